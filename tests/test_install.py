"""A plain `pip install .` into an empty environment gives a working `shoal` command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(sys.platform == "win32", reason="the paths of the environment differ there")
@pytest.mark.slow
def test_plain_install(tmp_path):
    source = tmp_path / "source"
    ignored = shutil.ignore_patterns(
        ".venv", ".git", "demo", ".*_cache", "__pycache__", ".hypothesis"
    )
    shutil.copytree(ROOT, source, ignore=ignored)
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    env["SHOAL_CACHE"] = str(tmp_path / "kernels")  # a first run: nothing is compiled yet
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    pip = [tmp_path / "env/bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, source], check=True, env=env, cwd=tmp_path)
    shoal = tmp_path / "env/bin/shoal"
    listed = subprocess.run([shoal, "list"], check=True, env=env, capture_output=True, text=True)
    assert "k-anonymity" in listed.stdout
    done = subprocess.run(
        [shoal, "demo", "--rows", "200"], env=env, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "Compiling kernels" in done.stderr
    assert (tmp_path / "demo/release.csv").exists()
    packaged = (tmp_path / "env/lib").glob("python*/site-packages/shoal/papers/*/printed.toml")
    assert len(list(packaged)) == len(list((ROOT / "src/shoal/papers").glob("*/experiment.py")))
