"""Hierarchies as docs/choosing.md describes them: which label covers which value.

A tree is a mapping from each label to the one above. `None` is the missing value.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil

Label = str | None
STAR = "*"


def same(cell: str | None) -> str | None:
    """A value without what says nothing: blanks around it, and how a number is written."""
    if cell is None:
        return None
    cell = cell.strip()
    body = cell.lstrip("+-")
    code = len(body) > 1 and body[0] == "0" and body[1] != "."  # 007 is no number
    try:
        number = Decimal(cell)
    except InvalidOperation:
        return {"True": "true", "False": "false"}.get(cell, cell)
    if code or not number.is_finite():
        return cell
    return str(number.normalize() + 0) if number else "0"


class Tree:
    """Labels, each with its parent; the first label of each row is an original value."""

    free = False

    def __init__(self, rows: Iterable[list[Label]], counts: dict[Label, int] | None = None) -> None:
        self.parent: dict[Label, Label] = {}
        self.listed: list[Label] = []
        self.root: Label = STAR
        self.counts = counts or {}
        for row in rows:
            path = [label for i, label in enumerate(row) if i == 0 or label != row[i - 1]]
            self.listed.append(path[0])
            for low, high in pairwise(path):
                assert self.parent.setdefault(low, high) == high, (low, high)
            self.root = path[-1]

    def with_missing(self, gone: Iterable[Label]) -> Tree:
        """The same with these missing values straight under the root, each a value of its own."""
        for value in gone:
            if value not in self.parent and value != self.root:
                self.parent[value] = self.root
                self.listed.append(value)
                if self.root in self.counts:
                    self.counts[self.root] += 1
        return self

    def chain(self, value: Label) -> list[Label]:
        """The labels that cover a value, from itself to the root."""
        chain = [value]
        while chain[-1] in self.parent:
            chain.append(self.parent[chain[-1]])
        assert chain[-1] == self.root, value
        return chain

    def covers(self, label: Label, value: Label) -> bool:
        return label in self.chain(value)

    @cached_property
    def children(self) -> dict[Label, list[Label]]:
        below: dict[Label, list[Label]] = {}
        for low, high in self.parent.items():
            below.setdefault(high, []).append(low)
        return below

    @cached_property
    def _measures(self) -> dict[Label, tuple[int, int]]:
        """For each label the leaves below or at it, and its longest way down."""
        found: dict[Label, tuple[int, int]] = {}
        listed = set(self.listed)

        def measure(label: Label) -> tuple[int, int]:
            below = [measure(child) for child in self.children.get(label, [])]
            leaves = sum(n for n, _ in below) + (label in listed)
            leaves = self.counts.get(label, leaves)
            found[label] = leaves, max((level + 1 for _, level in below), default=0)
            return found[label]

        measure(self.root)
        return found

    def leaves(self, label: Label) -> int:
        return self._measures[label][0]

    def level(self, label: Label) -> int:
        return self._measures[label][1]

    @property
    def height(self) -> int:
        return self.level(self.root) + 1

    def lift(self, value: Label, level: int) -> Label:
        """The lowest label over a value, or itself, that stands at the level or higher."""
        return next(label for label in self.chain(value) if self.level(label) >= level)

    def join(self, values: list[Label]) -> Label:
        """The lowest label over all of these."""
        chains = [self.chain(value) for value in values]
        return next(label for label in chains[0] if all(label in chain for chain in chains))


class FreeTree(Tree):
    """Values directly below the root, and any range, or any set, of them."""

    free = True

    def __init__(self, values: list[str], ranges: bool, ends: tuple | None = None) -> None:
        super().__init__([[value, STAR] for value in values] or [[STAR]])
        self.known = list(values)  # without missing ones
        self.ranges = ranges
        numbers = [Fraction(value) for value in values] if ranges else []
        self.ends = ends or ((min(numbers), max(numbers)) if numbers else (0, 0))

    def covers(self, label: Label, value: Label) -> bool:
        if label in (value, STAR):
            return True
        if self.ranges:
            ends = closed_range(label)
            return ends is not None and value is not None and ends[0] <= Fraction(value) <= ends[1]
        return value in members(label)

    def width(self, label: Label) -> Fraction:
        """What a label loses of the column, from 0 for a value to 1 for the root."""
        if label == STAR:
            return Fraction(1)
        if label in self.parent:
            return Fraction(0)
        if self.ranges:
            ends = closed_range(label)
            assert ends is not None, label
            span = Fraction(self.ends[1]) - Fraction(self.ends[0])
            return (ends[1] - ends[0]) / span if span else Fraction(0)
        return Fraction(len(members(label)) - 1, max(len(self.listed) - 1, 1))


def closed_range(label: Label) -> tuple[Fraction, Fraction] | None:
    if label is None or label[:1] != "[" or label[-1:] != "]" or label.count(", ") != 1:
        return None
    low, high = label[1:-1].split(", ")
    return Fraction(low), Fraction(high)


def members(label: Label) -> list[Label]:
    """The values that a set such as {a, "b, c", missing} names."""
    if label is None or label[:1] != "{" or label[-1:] != "}":
        return []
    found: list[Label] = []
    rest = label[1:-1]
    while rest:
        if rest[0] == '"':
            name, end = json.JSONDecoder().raw_decode(rest)
            found.append(name)
            rest = rest[end:]
        else:
            name, _, _ = rest.partition(", ")
            found.append(None if name == "missing" else name)
            rest = rest[len(name) :]
        assert not rest or rest.startswith(", "), label
        rest = rest[2:]
    return found


def build(setting, values: Iterable[str]) -> Tree:
    """The tree that a plan's hierarchy makes of a column with these (not missing) values."""
    values = sorted(set(values))
    kind = "flat" if setting is None else next(iter(setting))
    match kind:
        case "flat":
            return Tree([[value, STAR] for value in values] or [[STAR]])
        case "tree":
            return Tree(nested_rows(setting["tree"]))
        case "parents":
            parents = setting["parents"]
            rows = []
            for value in parents:
                if value not in parents.values():
                    row = [value]
                    while row[-1] in parents:
                        row.append(parents[row[-1]])
                    rows.append(row)
            return Tree(rows)
        case "levels":
            return Tree(setting["levels"])
        case "csv":
            return Tree(setting["rows"])
        case "ranges":
            return ranges(values, setting["ranges"], setting.get("start", 0))
        case "borders":
            return borders(values, setting["borders"])
        case "prefixes":
            keep = setting["prefixes"]
            return prefixes(values, None if keep is True else keep, setting.get("length"))
        case "dates":
            return dates(values, setting["dates"])
        case "free_ranges":
            ends = (setting["low"], setting["high"]) if "low" in setting else None
            return FreeTree(sorted(values, key=Fraction), True, ends)
        case "free_sets":
            given = setting["free_sets"]
            return FreeTree(values if given is True else given, False)
    raise AssertionError(kind)


def nested_rows(nested) -> list[list[Label]]:
    rows: list[list[Label]] = []

    def walk(inside, above: list[Label]) -> None:
        items = inside.items() if isinstance(inside, dict) else ((leaf, None) for leaf in inside)
        for label, below in items:
            if below:
                walk(below, [label, *above])
            else:
                rows.append([label, *above])

    walk(nested, [])
    return rows


def written(number: Fraction) -> str:
    """A number as a label writes it."""
    return str(int(number)) if number.denominator == 1 else str(float(number))


def midnight(moment: datetime) -> str:
    """A date as labels write it, with its time unless that is midnight."""
    return moment.isoformat(sep=" ").removesuffix(" 00:00:00")


def ranges(values: list[str], widths: list, start) -> Tree:
    numbers = {value: Fraction(value) for value in values}  # blanks around them do not count
    if not numbers:
        return Tree([[STAR]])
    first = Fraction(str(start))
    low, high = min(numbers.values()), max(numbers.values())
    whole = all(number.denominator == 1 for number in numbers.values())
    rows, counts = [], {}
    for value, number in numbers.items():
        row: list[Label] = [value]
        for width in (Fraction(str(width)) for width in widths):
            begin = first + (number - first) // width * width
            label = f"[{written(begin)}, {written(begin + width)})"
            row.append(label)
            if whole:
                stop = min(int(high) + 1, ceil(begin + width))
                counts[label] = len(range(max(int(low), ceil(begin)), stop))
        rows.append([*row, STAR])
    if whole:
        counts[STAR] = int(high - low) + 1
    return Tree(rows, counts)


def borders(values: list[str], levels: list[list]) -> Tree:
    if not values:
        return Tree([[STAR]])
    dates = isinstance(levels[0][0], str)
    numbers = {value: day_number(value) if dates else Fraction(value) for value in values}
    low, high = min(numbers.values()), max(numbers.values())
    whole = all(number.denominator == 1 for number in numbers.values())
    rows, counts = [], {STAR: int(high - low) + 1}
    for value, number in numbers.items():
        row: list[Label] = [value]
        for level in levels:
            cuts = [day_number(cut) if dates else Fraction(str(cut)) for cut in level]
            below = [cut for cut in cuts if cut <= number]
            above = [cut for cut in cuts if cut > number]
            names = [str(cut) if dates else written(Fraction(str(cut))) for cut in level]
            place = len(below)
            label = f"<{names[0]}" if not below else f">={names[-1]}"
            if below and above:
                label = f"[{names[place - 1]}, {names[place]})"
            row.append(label)
            first = max(ceil(below[-1]), int(low)) if below else int(low)
            last = min(ceil(above[0]) - 1, int(high)) if above else int(high)
            counts[label] = len(range(first, last + 1))
        rows.append([*row, STAR])
    return Tree(rows, counts if whole else None)


def day_number(day: str) -> Fraction:
    return Fraction(datetime.fromisoformat(day.strip()).toordinal())


def prefixes(codes: list[str], keep: list[int] | None, length: int | None) -> Tree:
    longest = length or max(map(len, codes), default=0)
    uneven = length == 0 or (length is None and any(len(code) != longest for code in codes))
    keep = keep or list(range(longest - 1 + (length == 0), 0, -1))
    rows = []
    for code in codes:
        row: list[Label] = [code]
        for kept in keep:
            if uneven:
                row.append(code[:kept] + STAR)
            elif kept < len(code) == longest:
                row.append(code[:kept] + STAR * (longest - kept))
        rows.append([*row, STAR])
    return Tree(rows or [[STAR]])


def dates(values: list[str], steps: list[str]) -> Tree:
    days = {value: datetime.fromisoformat(value.strip()).date() for value in values}
    if not days:
        return Tree([[STAR]])
    low, high = min(days.values()), max(days.values())
    every = [low + timedelta(d) for d in range((high - low).days + 1)]
    counts: dict[Label, int] = {STAR: len(every)}
    for step in steps:
        counts |= Counter(calendar_label(step, day) for day in every)
    rows: list[list[Label]] = [
        [value, *(calendar_label(step, day) for step in steps), STAR] for value, day in days.items()
    ]
    return Tree(rows, counts)


def calendar_label(step: str, day: date) -> str:
    match step:
        case "day":
            return day.isoformat()
        case "week":
            return f"week of {(day - timedelta(day.weekday())).isoformat()}"
        case "month":
            return f"{day.year:04}-{day.month:02}"
        case "quarter":
            return f"{day.year:04}-Q{(day.month + 2) // 3}"
        case "year":
            return f"{day.year:04}"
    many = {"decade": 10, "century": 100}.get(step) or int(step.split()[0])
    first = day.year // many * many
    return f"{first:04} to {first + many - 1:04}"


def calendar_days(label: str) -> tuple[date, date] | None:
    """The first and the last day of a label above; None if it is none."""
    begin = label.removeprefix("week of ")
    try:
        if begin != label:
            first = date.fromisoformat(begin)
            return first, first + timedelta(6)
        if re.match(r" ?[0-9]{4}-[0-9]{2}-[0-9]{2}", label):
            day = datetime.fromisoformat(label.strip()).date()
            return day, day
        months = re.fullmatch(r"([0-9]{4})(?:-(Q?)([0-9]{1,2}))?(?: to ([0-9]{4}))?", label)
        if months is None:
            return None
        year, quarter, month, last = months.groups()
        many = 3 if quarter else 1
        start = (int(month) - 1) * many + 1 if month else 1
        end = start + many - 1 if month else 12
        stop = date(int(last or year), end, 28) + timedelta(4)  # in the month after
        return date(int(year), start, 1), stop.replace(day=1) - timedelta(1)
    except ValueError:
        return None
