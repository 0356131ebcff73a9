"""`python -m shoal`, and the command `shoal`."""

import sys

from shoal.base.interrupt import run


class _WithoutPandas:
    """Makes pandas look as if it were not installed.

    pyarrow imports pandas at its first array, to recognize objects of pandas. Commands read and
    write files only: they need neither pandas nor the time that its import takes.
    """

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:  # noqa: ARG004
        if name == "pandas":
            raise ModuleNotFoundError("commands of shoal do not use pandas", name=name)


def main() -> None:
    """Run the command line; interrupts are handled even while it is being loaded."""
    run(_load_and_run, last=True)


def _load_and_run() -> None:
    sys.meta_path.insert(0, _WithoutPandas)
    from shoal.cli.main import main

    main()


if __name__ == "__main__":
    main()
