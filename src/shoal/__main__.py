"""`python -m shoal`, and the command `shoal`."""

from shoal.base import own_process
from shoal.base.interrupt import run


def main() -> None:
    """Run the command line; interrupts are handled even while it is being loaded."""
    run(_load_and_run, last=True)


def _load_and_run() -> None:
    own_process.claim()
    with own_process.loading():
        from shoal.cli.main import main

    main()


if __name__ == "__main__":
    main()
