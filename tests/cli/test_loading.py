"""Commands load only what they need."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
from shoal.cli.main import main
sys.argv = ["shoal", "anonymize", "people.csv", "--plan", "plan.toml", "--out", "release.csv"]
try:
    main()
except SystemExit as error:
    assert not error.code
print("loaded:", [name for name in ("pandas", "numba.cpython.unicode") if name in sys.modules])
import pandas
print("there:", pandas.Series([1]).sum())
"""


def test_anonymize_loads_neither_pandas_nor_the_whole_compiler(tmp_path):
    (tmp_path / "people.csv").write_text("age,sex\n" + "31,m\n32,m\n47,f\n48,f\n" * 3)
    (tmp_path / "plan.toml").write_text(
        '[columns]\nage = { role = "quasi" }\nsex = { role = "quasi" }\n'
        '[[models]]\nname = "k-anonymity"\nk = 2\n'
    )
    for _ in range(2):  # the first run may compile
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True
        )
    assert "loaded: []\nthere: 1\n" in done.stdout, done.stdout + done.stderr
