"""Build hook of hatchling: puts machine code into a wheel. Off by default; `make wheel` uses it.

The wheel is for one version of Python on one platform. Where numba, numpy or llvmlite have other
versions than here, it works as any other, and compiles its kernels on the first run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class MachineCodeHook(BuildHookInterface[Any]):
    """Compiles kernels, and adds them to the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before the wheel is written."""
        if version == "editable":  # its sources change
            return
        self._private = tempfile.TemporaryDirectory()
        folder = Path(self._private.name) / "compiled"
        root = Path(self.root)
        env = {**os.environ, "PYTHONPATH": str(root / "src")}
        program = root / "wheels" / "compile_kernels.py"
        subprocess.run([sys.executable, program, folder], check=True, env=env)
        build_data["force_include"][str(folder)] = "shoal/kernels/compiled"
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Called after the wheel is written."""
        if version != "editable":
            self._private.cleanup()
