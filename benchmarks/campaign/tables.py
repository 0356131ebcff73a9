"""Random tables: columns of many kinds, as texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import cached_property
from itertools import chain, pairwise
from random import Random

from benchmarks.campaign.trees import STAR, Tree, build, midnight, same, written

ODD_NAMES = [
    "Größe",
    "a b",
    "x,y",
    'q"uote',
    "semi;colon",
    "名前",
    "tab\there",
    "ends.with.dots",
    "1",
]
ODD_TEXTS = [
    "a,b", 'say "x"', "semi;colon", "pipe|", "=1+1", "ü ö", "日本", "line\nbreak", "'", "{x}",
    "[1, 2)", "x" * 60, "007", "-", "null?", "#", "a\\b", "50%", "e̶",
]  # fmt: skip
STEPS = [
    ["month", "year", "decade"], ["quarter", "year"], ["week"], ["year", "5 years", "decade"],
    ["day", "month"], ["month", "2 years"], ["century"],
]  # fmt: skip
WIDTHS = [[5, 10, 20], [10], [2, 4, 8, 16], [3, 9], [25, 100], [1, 7]]


@dataclass
class Column:
    """One column: its role, its cells as they are written (None is empty), and its setting."""

    name: str
    role: str
    cells: list[str | None]
    hierarchy: dict | None = None
    publish: bool = True
    kind: Callable[[str], object] | None = None  # of its values in files that have types
    words: list[str] = field(default_factory=list)  # cells that mean missing, besides empty ones
    own_words: bool = False  # whether the plan states them with the column

    def lacks(self, cell: str | None) -> bool:
        """Whether a cell of a quasi-identifier means missing: only if it is written so."""
        return cell is None or cell in self.words

    @property
    def known(self) -> list[str]:
        """The cells that are not missing."""
        return [cell for cell in self.cells if cell is not None and not self.lacks(cell)]

    @cached_property
    def meant(self) -> dict[str, str]:
        """The number or date that each value means, as labels write it; others mean themselves."""
        cuts = (self.hierarchy or {}).get("borders", [[0]])
        dates = "dates" in (self.hierarchy or {}) or isinstance(cuts[0][0], str)
        numbers = {"ranges", "free_ranges", "borders"} & {*(self.hierarchy or {})}
        if numbers and not dates:
            return {cell: written(Fraction(cell)) for cell in self.known}
        if dates:
            return {cell: midnight(datetime.fromisoformat(cell.strip())) for cell in self.known}
        return {cell: cell for cell in self.known}

    @cached_property
    def spoken(self) -> dict[str, str]:
        """The label of each value: a number or date has one, however it is written."""
        often = Counter(self.meant.values())
        return {cell: cell if often[one] == 1 else one for cell, one in self.meant.items()}

    def tree(self, missing: str = "value") -> Tree:
        """Its hierarchy, with what it has of missing values."""
        tree = build(self.hierarchy, self.spoken.values())
        gone: list[str | None] = sorted({c for c in self.cells if self.lacks(c)}, key=str)
        if missing == "empty":
            gone = [None] if gone else []
        return tree.with_missing(gone) if missing in ("value", "empty") else tree

    def label(self, cell: str | None, missing: str, tree: Tree) -> str | None:
        """What the tree has for a cell."""
        if self.lacks(cell) and missing != "value":
            return tree.root if missing == "root" else None
        return cell if self.lacks(cell) else self.spoken[cell]

    def means_nothing(self, cell: str | None) -> bool:
        """Whether a sensitive value or a person is missing: all words mean the same there."""
        return same(cell) in {None, *map(same, self.words)}

    def meanings(self) -> list[str | None]:
        """The sensitive values or persons that the cells mean."""
        return [None if self.means_nothing(cell) else same(cell) for cell in self.cells]

    def setting(self) -> dict:
        setting: dict = {"role": self.role}
        if self.own_words:
            setting["missing_values"] = self.words
        if self.hierarchy is not None:
            kept = {k: v for k, v in self.hierarchy.items() if k != "rows"}
            setting["hierarchy"] = kept.get("csv", kept)
        if not self.publish:
            setting["publish"] = False
        return setting


@dataclass
class Table:
    """Columns of the same length."""

    columns: list[Column]
    files: dict[str, str] = field(default_factory=dict)  # level files that the plan names

    @property
    def rows(self) -> int:
        return len(self.columns[0].cells)

    def columns_with_role(self, role: str) -> list[Column]:
        return [column for column in self.columns if column.role == role]

    @property
    def free(self) -> bool:
        return any(
            "free" in next(iter(c.hierarchy or {"": 0})) for c in self.columns_with_role("quasi")
        )


def _skewed(rng: Random, pool: list, n: int) -> list:
    """Draw from a pool, some of it often and some rarely."""
    power = rng.choice([0, 0, 1, 2])
    weights = [1 / (i + 1) ** power for i in range(len(pool))]
    return rng.choices(pool, weights, k=n)


def _rows(rng: Random) -> int:
    low, high = rng.choices([(1, 12), (13, 80), (80, 400), (1000, 4000)], [30, 40, 26, 4])[0]
    return rng.randint(low, high)


def random_table(
    rng: Random, rows: int | None = None, people: float = 0.3, free: float = 0.2, odd: float = 0.15
) -> Table:
    """A table with a random number of columns of each role."""
    n = rows or _rows(rng)
    table = Table([])
    names = [*"abcdefgh"]
    if rng.random() < odd:
        names = rng.sample(ODD_NAMES, 5) + names
    free_ones = rng.random() < free
    for _ in range(rng.choice([1, 2, 2, 3, 3, 4, 5])):
        table.columns.append(_quasi(rng, names.pop(0), n, free_ones, table))
    for i in range(rng.choice([0, 1, 1, 1, 2])):
        table.columns.append(_sensitive(rng, f"s{i}", n, odd))
    if rng.random() < people:
        table.columns.append(_persons(rng, n))
    if rng.random() < 0.5:
        table.columns.append(Column("name", "identifier", [f"N{i:05}n" for i in range(n)]))
    if rng.random() < 0.4:
        cells = [rng.choice([None, "u", "v", *ODD_TEXTS]) for _ in range(n)]
        table.columns.append(Column("more", "other", cells))
    if rng.random() < 0.2:
        cells = [rng.choice([None, "x", f"D{i:05}d"]) for i in range(n)]
        table.columns.append(Column("unused", "drop", cells))
    # By its tag a published row is found in the original, in whatever order it is.
    table.columns.append(Column("tag", "other", [f"t{i}" for i in range(n)]))
    rng.shuffle(table.columns)
    return table


def _with_missing(rng: Random, cells: list) -> list:
    share = rng.choice([0, 0, 0.05, 0.3])
    return [None if rng.random() < share else cell for cell in cells]


def _quasi(rng: Random, name: str, n: int, free: bool, table: Table) -> Column:
    kinds = [
        "letters",
        "ranges",
        "borders",
        "prefixes",
        "dates",
        "nested",
        "parents",
        "levels",
        "file",
        "flat",
    ]
    if free and rng.random() < 0.6:
        kinds = ["free_ranges", "free_sets"]
    kind = rng.choice(kinds)
    many = rng.choice([1, 2, 4, 8, 20])
    if kind in ("ranges", "borders", "free_ranges"):
        return _numbers(rng, name, n, kind)
    if kind == "prefixes":
        length = rng.randint(1, 5)
        uneven = rng.random() < 0.2
        digits = "0123456789"[:many] + "A"
        lengths = [rng.randint(1, length) if uneven else length for _ in range(many)]
        pool = sorted({"".join(rng.choices(digits, k=k)) for k in lengths})
        hierarchy: dict = {"prefixes": True}
        if rng.random() < 0.3 and length > 1:
            hierarchy = {
                "prefixes": sorted(rng.sample(range(1, length), rng.randint(1, length - 1)))[::-1]
            }
        return Column(name, "quasi", _with_missing(rng, _skewed(rng, pool, n)), hierarchy)
    if kind == "dates":
        first = date(rng.randint(1890, 2020), 1, 1)
        span = rng.choice([10, 200, 1500])
        pool = [(first + timedelta(rng.randint(0, span))).isoformat() for _ in range(many)]
        cells, steps = _with_missing(rng, _skewed(rng, pool, n)), rng.choice(STEPS)
        hierarchy = {"dates": steps}
        if rng.random() < 0.25:
            days = [(first + timedelta(i)).isoformat() for i in range(0, span, 3)]
            hierarchy, steps = {"borders": _levels(rng, days)}, []
        kind: Callable[[str], object] | None = date.fromisoformat
        if rng.random() < 0.15 and "day" not in steps:  # else midnight is not the day
            ways, kind = ["{}", "{}", " {}", "{} 00:00", "{}T00:00:00"], None
            cells = [cell and rng.choice(ways).format(cell) for cell in cells]
        return Column(name, "quasi", cells, hierarchy, kind=kind)
    pool = [f"{name[:1]}{i}" for i in range(many)]
    if rng.random() < 0.15:
        pool = list(dict.fromkeys([*rng.sample(ODD_TEXTS, min(many, len(ODD_TEXTS))), *pool]))[
            :many
        ]
        pool = [value for value in pool if not (kind == "free_sets" and value[:1] == "{")] or ["p"]
    if kind in ("file", "levels"):  # their labels are stripped and may not be empty
        pool = [value for value in pool if "\n" not in value] or ["p"]
    cells = _with_missing(rng, _skewed(rng, pool, n))
    if kind == "free_sets":
        return Column(name, "quasi", cells, {"free_sets": rng.choice([True, pool])})
    if kind in ("letters", "flat"):
        return Column(name, "quasi", cells, None if kind == "letters" else {"flat": True})
    rows = _random_tree(rng, pool, rng.choice([STAR, "Any"]))
    if kind == "nested":
        return Column(name, "quasi", cells, {"tree": _nest(rows)})
    if kind == "parents":
        parents = {low: high for row in rows for low, high in pairwise(row)}
        return Column(name, "quasi", cells, {"parents": parents})
    if kind == "levels":
        return Column(name, "quasi", cells, {"levels": rows})
    file = f"levels{len(table.files)}.csv"
    quoted = (['"' + label.replace('"', '""') + '"' for label in row] for row in rows)
    table.files[file] = "".join(";".join(row) + "\n" for row in quoted)
    return Column(name, "quasi", cells, {"csv": file, "rows": rows})


def _numbers(rng: Random, name: str, n: int, kind: str) -> Column:
    low, high = rng.choice([(0, 100), (-20, 20), (1900, 2020), (0, 3), (5, 5), (0, 100_000)])
    if rng.random() < 0.2:
        cells = [f"{rng.randint(low * 10, high * 10) / 10:.1f}" for _ in range(n)]
        cells = [cell.removesuffix(".0") for cell in cells]
        typed: Callable[[str], object] | None = float
    else:
        cells, typed = [str(rng.randint(low, high)) for _ in range(n)], int
    cells = ["0" if cell == "-0" else cell for cell in cells]
    if rng.random() < 0.15:
        ways = ["{}", "{}", " {}", "{} ", "{}e0", "{}.0" if typed is int else "{}0"]
        ways += [] if low < 0 else ["+{}", "0{}"]
        cells, typed = [rng.choice(ways).format(cell) for cell in cells], None
    cells = _with_missing(rng, cells)
    if kind == "free_ranges":
        hierarchy: dict = {"free_ranges": True}
        if rng.random() < 0.3:
            hierarchy |= {"low": low - 5, "high": high + 7}
    elif kind == "borders":
        hierarchy = {"borders": _levels(rng, [*range(low - 2, high + 3), low + 0.5])}
    else:
        hierarchy = {"ranges": rng.choice(WIDTHS)}
        if rng.random() < 0.3:
            hierarchy["start"] = rng.choice([1, 3, -2, 0.5])
    return Column(name, "quasi", cells, hierarchy, kind=typed)


def _levels(rng: Random, pool: list) -> list[list]:
    """Borders, and fewer of them at each level."""
    levels = [sorted(rng.sample(pool, min(len(pool), rng.randint(1, 6))))]
    while len(levels[-1]) > 1 and rng.random() < 0.6:
        levels.append(sorted(rng.sample(levels[-1], rng.randint(1, len(levels[-1]) - 1))))
    return levels


def _random_tree(rng: Random, leaves: list[str], root: str) -> list[list[str]]:
    """Rows from each leaf to the root, of different lengths."""
    rows = {leaf: [leaf] for leaf in leaves}
    groups = [[leaf] for leaf in leaves]
    number = 0
    while len(groups) > 1 and rng.random() < 0.9:
        taken = groups[: rng.randint(1, min(4, len(groups)))]
        groups = groups[len(taken) :]
        label, number = f"Zone {number}", number + 1
        together = list(chain(*taken))
        for leaf in together:
            rows[leaf].append(label)
        groups.append(together)
    return [[*row, root] for row in rows.values()]


def _nest(rows: list[list[str]]) -> dict:
    nested: dict = {}
    for row in rows:
        inside = nested
        for label in reversed(row):
            inside = inside.setdefault(label, {})

    def plain(inside: dict):
        if not any(inside.values()):
            return list(inside)
        return {label: plain(below) if below else [] for label, below in inside.items()}

    return {label: plain(below) for label, below in nested.items()}


def _sensitive(rng: Random, name: str, n: int, odd: float) -> Column:
    many = rng.choice([2, 3, 5, 10, 40])
    kind = rng.choice(["words", "words", "numbers", "tree", "dates"])
    if kind == "numbers":
        pool = [str(rng.randint(-5, 50)) for _ in range(many)]
    elif kind == "dates":
        pool = [(date(2020, 1, 1) + timedelta(rng.randint(0, 99))).isoformat() for _ in range(many)]
    else:
        pool = [f"{name}v{i}" for i in range(many)]
        if rng.random() < odd:
            pool = [*rng.sample(ODD_TEXTS, min(many, len(ODD_TEXTS)))]
    if kind in ("words", "numbers") and rng.random() < 0.05:  # one value, written in two ways
        pool[-1] = f"{pool[0]}.0" if kind == "numbers" else f"{pool[0]} "
    hierarchy = None
    if kind == "tree":
        hierarchy = {"tree": _nest(_random_tree(rng, pool, "All"))}
    cells = _with_missing(rng, _skewed(rng, list(dict.fromkeys(pool)), n))
    return Column(name, "sensitive", cells, hierarchy)


def _persons(rng: Random, n: int) -> Column:
    many = max(1, round(n * rng.choice([0.3, 0.5, 0.8, 1])))
    style = rng.choice(["{}", "P{}", "0{}", "id {}"])
    cells = [style.format(1 + rng.randrange(many)) for _ in range(n)]
    if rng.random() < 0.1:
        cells = [None if rng.random() < 0.1 else cell for cell in cells]
    kind = int if style == "{}" else None
    return Column("person", "person", cells, publish=rng.random() < 0.8, kind=kind)


WORDS = ["?", "NA", "N", "99", "-1", "0", "missing", "=NA()", ".", "n. a.", "{}"]


def say_missing(rng: Random, table: Table) -> list[str] | None:
    """Give columns words for missing values, and write some of these instead of empty cells.

    Returns the words of the plan, None if it states none.
    """
    several = rng.random() < 0.5
    common = rng.sample(WORDS, rng.randint(0, 2)) if several and rng.random() < 0.6 else None
    for column in table.columns:
        if column.name == "tag":  # it says which row is which
            continue
        column.words = common or []
        if several and rng.random() < 0.3:
            pool = [*WORDS, *(cell for cell in column.cells[:2] if cell)]  # a value of others
            column.words = rng.sample(list(dict.fromkeys(pool)), rng.randint(0, 2))
            column.own_words = True
        if column.words and rng.random() < 0.8:
            share = rng.choice([0.2, 0.5, 1])
            said = [rng.choice(column.words) if rng.random() < share else None for _ in range(9)]
            column.cells = [rng.choice(said) if cell is None else cell for cell in column.cells]
    return None if common is None else ["", *common]
