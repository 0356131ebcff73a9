"""Files that forms name."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.base.errors import BadFile
from shoal.studio.sources.named_file import is_file, named_file, named_population


def test_paths_begin_at_the_folder_of_the_start(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("a\n1\n")
    for data in ("people.csv", str(tmp_path / "people.csv"), "./people.csv"):
        assert named_file(tmp_path, data) == (tmp_path / "people.csv").resolve()
        assert named_population(tmp_path, data) == (tmp_path / "people.csv").resolve()


@pytest.mark.parametrize("data", ["", "nothing.csv", ".", "\0", "x" * 5000])
def test_what_is_no_file(tmp_path: Path, data: str) -> None:
    assert not is_file(tmp_path, data)
    for named in (named_file, named_population):
        with pytest.raises(BadFile, match="there is no file"):
            named(tmp_path, data)


@pytest.mark.parametrize(
    ("name", "said"), [("people.db", "not from a database"), ("people.docx", "people.docx")]
)
def test_files_that_are_no_table_of_a_population(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / name).write_text("x")
    with pytest.raises(BadFile, match=said):
        named_population(tmp_path, name)
