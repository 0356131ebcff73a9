"""Level tables as text: one line per value, from the value up to the root, as ARX has them."""

from __future__ import annotations

import csv
import gzip
import io
import lzma
from collections.abc import Iterable, Sequence
from typing import Any

from shoal.base.errors import BadFile, BadHierarchy
from shoal.hierarchies.tree import Label, Tree
from shoal.hierarchies.values import text

SEP = ";"
Rows = list[list[Label]]


def tidy_rows(rows: Iterable[Sequence[object]]) -> Rows:
    """Rows of labels, without surrounding blanks and empty fields."""
    if not isinstance(rows, Iterable):
        raise BadHierarchy(
            f"a level table needs rows, each a list of labels from a value up to the root; got "
            f"{type(rows).__name__}"
        )
    tidy: Rows = []
    for row in rows:
        labels = [text(field).strip() if field is not None else "" for field in row]
        if not any(labels):
            continue
        tidy.append([labels[0] or None, *(label for label in labels[1:] if label)])
    return tidy


def rows_of_file(content: bytes, name: str, sep: str | None = None) -> list[list[str]]:
    """The fields of a file with this name; its ending says whether it is packed."""
    openers: dict[str, Any] = {".gz": gzip.decompress, ".xz": lzma.decompress}
    opener = next((one for ending, one in openers.items() if name.endswith(ending)), None)
    try:
        bare = content if opener is None else opener(content)
        return rows_of_text(bare.decode("utf-8-sig"), name, sep)
    except UnicodeDecodeError:
        raise BadFile(f"{name} is not UTF-8 text; save the hierarchy as UTF-8") from None
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise BadFile(f"cannot read the hierarchy {name}: {type(error).__name__}") from None


def rows_of_text(content: str, name: str, sep: str | None = None) -> list[list[str]]:
    """The fields of each line; without a delimiter, the most frequent one is it."""
    if sep is None:
        head = content[:10_000]
        sep = max(";\t|,", key=head.count)
    try:
        return list(csv.reader(io.StringIO(content, newline=""), delimiter=sep))
    except csv.Error:
        raise BadFile(
            f"cannot read the hierarchy {name}: a field is longer than 131,072 characters; is a "
            "quote not closed?"
        ) from None


def rows_of_tree(tree: Tree) -> Rows:
    """A row per value, all of one length: where a value has fewer levels, one occurs twice.

    >>> rows_of_tree(Tree.from_rows([["Cat", "Felid", "*"], ["Dog", "*"]]))
    [['Cat', 'Felid', '*'], ['Dog', '*', '*']]
    """
    rows: Rows = []
    for node in range(tree.size):
        label = tree.labels[node]
        if tree.end[node] > node + 1 or label is None or label in tree.words:
            continue
        row: list[Label] = [label]
        while node:
            node = int(tree.parent[node])
            row.append(tree.labels[node])
        rows.append(row)
    longest = max(map(len, rows), default=0)
    return [[*row, *[row[-1]] * (longest - len(row))] for row in rows]


def text_of_rows(rows: Rows, sep: str = SEP) -> str:
    """The lines of a level table."""
    made = io.StringIO(newline="")
    csv.writer(made, delimiter=sep, lineterminator="\n").writerows(rows)
    return made.getvalue()
