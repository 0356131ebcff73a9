"""A studio with a run of a small table, whose name is hard to quote, and how it is asked."""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from tests.studio.served import Served, serving

TABLE = 'Ann\'s "own" people $HOME.csv'
STEM = "Ann's own people $HOME"
PLAN = """
seed = 5
[columns]
name = { role = "identifier" }
age = { role = "quasi", hierarchy = { ranges = [5, 10, 20, 40] } }
sex = { role = "quasi", hierarchy = { csv = "levels of sex.csv" } }
disease = { role = "sensitive" }
note = { role = "other" }
[[models]]
name = "k-anonymity"
k = 4
"""


def write_table(folder: Path) -> tuple[Path, Path]:
    """The paths of a table and its plan, which needs a table of levels."""
    rows = [f"person {i},{20 + 7 * i % 60},{'fm'[i % 2]},{'flu' if i % 3 else 'gout'},=1+{i % 2}"
            for i in range(240)]  # fmt: skip
    table, plan = folder / TABLE, folder / "plan.toml"
    table.write_text("\n".join(["name,age,sex,disease,note", *rows]) + "\n", encoding="utf-8")
    (folder / "levels of sex.csv").write_text("f;any;*\nm;any;*\n", encoding="utf-8")
    plan.write_text(PLAN, encoding="utf-8")
    return table, plan


@dataclass
class Exported:
    """A studio with one finished run."""

    served: Served
    project: str
    run: str
    table: Path

    @property
    def page(self) -> str:
        """The address of the page."""
        return f"{self.project}/export/{self.run}"

    def file(self, name: str) -> str:
        """The address of a file."""
        return f"{self.project}/run/{self.run}/{name}"

    def choose(self, **fields: str) -> int:
        """Choose a format, and how cells are written; the status of the answer."""
        body = "&".join(f"{key}={quote(value)}" for key, value in fields.items())
        return self.served.ask("POST", f"{self.page}/settings", body).status

    def commands(self) -> list[str]:
        """The commands that the page shows."""
        found = re.findall(r"<textarea[^>]*>([^<]*)</textarea>", self.served.get(self.page).text)
        return [html.unescape(one) for one in found]

    def links(self) -> list[str]:
        """The addresses of files on the page."""
        found = re.findall(r'href="([^"]+/run/[^"]+)"', self.served.get(self.page).text)
        return [html.unescape(one) for one in found]


@contextmanager
def exported(folder: Path) -> Iterator[Exported]:
    """Start a studio, and run the plan."""
    table, plan = write_table(folder)
    with serving(folder / "kept", str(table), "--plan", str(plan)) as served:
        project = served.get("/").headers["location"].rpartition("/")[0]
        served.until(f"{project}/columns", 'class="columns"')
        assert served.ask("POST", f"{project}/run/start", "").status == 303
        page = served.until(f"{project}/run", "/export/|role=.alert").text
        found = re.search(r"/export/(\w+)", page)
        assert found is not None, page
        made = Exported(served, project, found[1], table)
        served.until(made.page, "Open the report")
        yield made


def in_shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command line in a folder as a shell does it, with our `shoal` on the path."""
    bin_folder = folder / "bin"
    bin_folder.mkdir(exist_ok=True)
    own = bin_folder / "shoal"
    own.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m shoal "$@"\n', encoding="utf-8")
    own.chmod(0o755)
    path = os.pathsep.join([str(bin_folder), os.environ.get("PATH", "")])
    shell = shutil.which("sh")
    assert shell is not None
    return subprocess.run(
        [shell, "-c", command], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": path},
    )  # fmt: skip
