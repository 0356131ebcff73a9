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


@pytest.mark.skipif(sys.platform == "win32", reason="the paths of the environment differ there")
@pytest.mark.slow
def test_the_first_run_of_a_wheel_with_machine_code_compiles_nothing(tmp_path):
    source = tmp_path / "source"
    for name in ("src", "wheels"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    tools, site = tmp_path / "tools", tmp_path / "site"
    subprocess.run([*pip, "install", "--target", tools, "hatchling>=1.26"], check=True)
    env = {**os.environ, "PYTHONPATH": str(tools), "HATCH_BUILD_HOOK_ENABLE_CUSTOM": "true"}
    wheel = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path, source]
    subprocess.run(wheel, check=True, env=env)
    (built,) = tmp_path.glob("*.whl")
    assert not built.name.endswith("-any.whl"), "machine code is for one platform"
    subprocess.run([*pip, "install", "--no-deps", "--target", site, built], check=True)

    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    with_code = {"PYTHONPATH": str(site), "SHOAL_CACHE": str(cache)}
    without = {"PYTHONPATH": str(ROOT / "src")}
    for folder, more in (("with", with_code), ("without", without)):
        done = subprocess.run(
            [sys.executable, "-m", "shoal", "demo", "--out", tmp_path / folder],
            env={**os.environ, **more},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        if folder == "with":
            assert "Compiling kernels" not in done.stderr
    assert not list(cache.rglob("*.code"))
    first, second = ((tmp_path / name / "release.csv") for name in ("with", "without"))
    assert first.read_bytes() == second.read_bytes()
