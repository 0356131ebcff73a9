"""The roles of columns: the settings of each column in a plan, and whether they fit the table."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict, field_validator, model_validator

from shoal.base.errors import BadInput, BadTable, did_you_mean, is_text, preview
from shoal.base.settings import Positive, Setting
from shoal.hierarchies.base import Hierarchy
from shoal.io.frames import Frame
from shoal.io.raw_text.spelling import Spelling, check_spelling
from shoal.table.allowed.at_most import AtMost
from shoal.table.samples.derived_settings import with_derived_settings

Role = Literal["identifier", "person", "household", "quasi", "sensitive", "weight", "other", "drop"]
ROLES = "identifier, person, household, quasi, sensitive, weight, other or drop"  # for messages
# Roles of columns that may serve the run without being published.
MAY_HIDE = ("person", "household", "weight")
# Roles of columns that are published unchanged, and that nothing protects.
UNCHANGED = ("other", "weight")
LINKS = ("person", "household")  # roles of columns that link records
# What becomes of a missing quasi-identifier: it is published as it was written, each way of writing
# it a value of its own; as an empty cell; as a suppressed value; or it is an error.
Derived = Literal["household-size", "household-composition"]
Missing = Literal["value", "empty", "root", "error"]
EMPTY = ""  # the word for missing that an empty cell is
Microaggregate = Literal["mean", "median"]
EXACT_NUMBERS = 1e15  # below it a float has all digits of a number
OF_NUMBERS = ("ranges", "borders", "free_ranges")  # hierarchies by which numbers form classes


class Column(Setting):
    """The settings of one column in a plan."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    name: ClassVar[str] = "a column"
    role: Role
    hierarchy: Hierarchy | None = None
    publish: bool = True  # False: a person, household or weight that is used, but not published
    of_household: bool = False  # whether all members of a household have the same value
    # Whether all members of a household get the same published values, and households are counted
    # in place of people. False: each member by itself, and only household-k-anonymity counts them.
    together: bool = True
    derive: Derived | None = None  # what the column is computed from; None: the table has it
    ages: str | None = None  # the column with the ages, for household-composition
    adult: Positive | None = None  # from which age on somebody is an adult there; None: 18
    decimal: str | None = None  # the decimal sign of its numbers, "." or ","; None: "."
    thousands: str | None = None  # between groups of three digits; None: nothing
    percent: bool = False  # whether its numbers have a percent sign, as in 12.5 %
    date_format: str | None = None  # of its dates, as in "%d.%m.%Y"; None: as in 2024-05-17
    missing_values: list[str] | None = None  # words that mean missing here; None: those of the plan
    importance: Positive = 1.0  # what it loses counts so many times as much as in other columns
    at_most: AtMost | None = None  # the most general values that may be published; None: any
    top: float | None = None  # larger numbers are published as this one; None: as they are
    bottom: float | None = None  # smaller numbers are published as this one; None: as they are
    round: Positive | None = None  # numbers are published as multiples of it; None: as they are

    # What each class publishes of its numbers instead of a range; None: a range.
    microaggregate: Microaggregate | None = None

    @model_validator(mode="before")
    @classmethod
    def _free_unless_stated(cls, given: Any) -> Any:
        """Numbers that are microaggregated need no hierarchy: any range may be a class."""
        if not isinstance(given, Mapping) or given.get("microaggregate") is None:
            return given
        stated = given.get("hierarchy") is not None or given.get("role") != "quasi"
        coded = any(given.get(name) is not None for name in ("top", "bottom", "round"))
        return given if stated or coded else {**given, "hierarchy": Hierarchy.free_ranges()}

    @model_validator(mode="after")
    def _microaggregates(self) -> Column:
        if self.microaggregate is None:
            return self
        if self.role != "quasi":
            raise ValueError(
                f"can have microaggregate only with the role quasi, not {self.role}: the classes "
                "are formed by quasi-identifiers; remove it"
            )
        for name in ("round", "top", "bottom", "at_most"):
            if getattr(self, name) is not None:
                raise ValueError(
                    f"has microaggregate and {name}: the {self.microaggregate} of a class is "
                    f"rounded like the numbers of the table; remove one of them"
                    if name == "round"
                    else f"has microaggregate and {name}; remove one of them"
                )
        kind = getattr(self.hierarchy, "name", None)  # those made from others have no name
        if kind is not None and kind not in OF_NUMBERS:
            raise ValueError(
                f"has microaggregate and the hierarchy {kind}, and only numbers have a "
                f"{self.microaggregate}; use one of {', '.join(OF_NUMBERS)}, or remove "
                "the hierarchy or microaggregate"
            )
        return self

    @property
    def codes_numbers(self) -> bool:
        """Whether numbers are rounded or cut off before anything else is done."""
        return not (self.top is None and self.bottom is None and self.round is None)

    @model_validator(mode="after")
    def _codes(self) -> Column:
        if not self.codes_numbers:
            return self
        stated = [name for name in ("top", "bottom", "round") if getattr(self, name) is not None]
        for name in stated:
            if not isfinite(getattr(self, name)):
                raise ValueError(f"needs a finite number as {name}, got {getattr(self, name):g}")
            if abs(getattr(self, name)) >= EXACT_NUMBERS:
                raise ValueError(
                    f"needs a number of at most 15 digits as {name}, got {getattr(self, name):g}: "
                    "a plan cannot store larger ones exactly"
                )
        if self.role not in ("quasi", "sensitive", "other"):
            raise ValueError(
                f"can have {stated[0]} only with the roles quasi, sensitive and other, not "
                f"{self.role}: it is about numbers that are published; remove it"
            )
        if self.hierarchy is not None and self.role == "quasi":
            raise ValueError(
                f"has {stated[0]} and a hierarchy: a range around {stated[0]} would not cover the "
                "numbers beyond it; remove it, or use a hierarchy with borders, whose first and "
                "last ranges are open"
            )
        if self.top is not None and self.bottom is not None and self.bottom >= self.top:
            raise ValueError(f"needs bottom below top, got {self.bottom:g} and {self.top:g}")
        for name in ("top", "bottom"):
            end = getattr(self, name)
            if self.round is not None and end is not None:
                steps = Fraction(str(end)) / Fraction(str(self.round))
                if steps.denominator != 1:
                    raise ValueError(
                        f"needs {name} as a multiple of round, got {end:g} and {self.round:g}"
                    )
        return self

    @model_validator(mode="after")
    def _only_quasi(self) -> Column:
        for name, given in (("importance", self.importance != 1.0), ("at_most", self.at_most)):
            if self.role != "quasi" and given:
                raise ValueError(
                    f"can have {name} only with the role quasi, not {self.role}: only "
                    "quasi-identifiers are generalized; remove it"
                )
        if self.at_most is not None:
            self.at_most.check(self.hierarchy)
        return self

    @model_validator(mode="before")
    @classmethod
    def _derived(cls, given: Any) -> Any:
        return with_derived_settings(given) if isinstance(given, Mapping) else given

    @model_validator(mode="after")
    def _may_hide(self) -> Column:
        if not self.publish and self.role not in MAY_HIDE:
            raise ValueError(
                "can have publish = false only with the roles person, household and weight; use "
                "the role drop or identifier for columns that are not published"
            )
        if not self.together and (self.role != "household" or self.publish):
            raise ValueError(
                "can have together = false only with the role household and publish = false: "
                "numbers that are published link the members, who are then hidden together"
            )
        if self.of_household and self.role in ("person", "household", "drop"):
            raise ValueError(
                f"can have of_household = true with a role for values, not with {self.role}; "
                "remove it"
            )
        return self

    @model_validator(mode="after")
    def _spelled(self) -> Column:
        if self.spelling is not None:
            check_spelling(self.spelling)
        return self

    @property
    def spelling(self) -> Spelling | None:
        """How it writes numbers or dates; None: as they are inside shoal."""
        stated = Spelling(
            self.decimal or ".", self.thousands or "", self.percent, self.date_format or ""
        )
        return None if stated == Spelling() else stated

    @field_validator("missing_values")
    @classmethod
    def _missing_values(cls, given: list[str] | None) -> list[str] | None:
        return None if given is None else checked_words(given)

    @field_validator("hierarchy", mode="before")
    @classmethod
    def _hierarchy(cls, given: Any) -> Hierarchy | None:
        return None if given is None else Hierarchy.of(given)

    @field_validator("at_most", mode="before")
    @classmethod
    def _at_most(cls, given: Any) -> AtMost | None:
        return None if given is None else AtMost.of(given)

    def changed(self, **fields: Any) -> Column:
        """The same column with some settings changed, validated again."""
        return Column(**{name: getattr(self, name) for name in type(self).model_fields} | fields)

    def setting_in(self, folder: Path | None = None) -> dict[str, Any]:
        """The settings that differ from the default, as in a plan file in this folder."""
        setting: dict[str, Any] = {"role": self.role}
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if name == "hierarchy" and value is not None:
                setting[name] = value.setting_in(folder)
            elif isinstance(value, AtMost):
                setting[name] = value.setting()
            elif name not in setting and value != field.default:
                whole = isinstance(value, float) and value.is_integer() and value < 10**15
                setting[name] = int(value) if whole else value
        return setting


def checked_words(words: list[str]) -> list[str]:
    """Words that mean missing; raise an error unless files can contain them."""
    if broken := [word for word in words if not is_text(word)]:
        raise ValueError(
            f"has missing_values with half a character (a lone surrogate): {preview(broken)}; "
            "remove them"
        )
    return words


def missing_words(columns: Mapping[str, Column], name: str, words: Sequence[str]) -> Sequence[str]:
    """The words that mean missing in a column; `words` are those of the plan.

    A column with words of its own has these instead. An empty cell stays missing, if it is so in
    the plan.

    >>> columns = {"a": Column(role="quasi", missing_values=["N"]), "b": Column(role="quasi")}
    >>> missing_words(columns, "a", ["", "?"]), missing_words(columns, "b", ["", "?"])
    (['', 'N'], ['', '?'])
    """
    own = columns[name].missing_values if name in columns else None
    if own is None:
        return words
    return [EMPTY, *own] if EMPTY in words and EMPTY not in own else own


def empty_words(words: Sequence[str]) -> list[str]:
    """The words for missing that are published as an empty cell, as files cannot tell them apart.

    The others are visible in a release: to its readers, each is a value of its own.
    """
    return [word for word in words if word == EMPTY]


def check_columns(columns: Collection[str], frame: Frame) -> None:
    """Raise an error unless the table has rows, and the columns that the plan names."""
    check_index(columns, frame)
    check_names(columns, frame.names)
    if frame.height == 0:
        raise BadTable("the table has no rows; there is nothing to publish")


def check_index(columns: Collection[str], frame: Frame) -> None:
    """Raise an error if the plan names row labels of a pandas frame, which are not published."""
    labels = [n for n in frame.index_names if n in columns and n not in frame.names]
    if labels:
        raise BadTable(
            f"{preview(labels)} is the index of the frame, not a column, and row labels are not "
            "published; call .reset_index() to make it a column"
        )


def check_names(columns: Collection[str], names: Collection[str]) -> None:
    """Raise an error unless plan and table name the same columns: there are no silent defaults."""
    lacking = [name for name in columns if name not in names]
    if lacking:
        hints = "".join(did_you_mean(name, names) for name in lacking[:1])
        raise BadTable(f"the plan names columns that the table lacks: {preview(lacking)}{hints}")
    unnamed = [name for name in names if name not in columns]
    if unnamed:
        raise BadTable(
            f"the plan does not mention the columns {preview(unnamed)}; give each a role: {ROLES}"
        )


def columns_with_role(columns: Mapping[str, Column], role: Role) -> list[str]:
    """The columns with this role, in the plan's order."""
    return [name for name, column in columns.items() if column.role == role]


def linking_columns(columns: Mapping[str, Column]) -> list[str]:
    """The column whose equal values link records in a release: the household, or the person.

    Members of a household are linked by its number, and so are the records of each of them. If
    each member is generalized by itself, only the records of a person are linked.

    >>> who, home = Column(role="person"), Column(role="household")
    >>> linking_columns({"who": who}), linking_columns({"who": who, "home": home})
    (['who'], ['home'])
    """
    homes = [name for name in columns_with_role(columns, "household") if columns[name].together]
    return homes or columns_with_role(columns, "person")


def household_apart(columns: Mapping[str, Column]) -> str | None:
    """The household column whose members are generalized each by itself; None: there is none."""
    found = [name for name, one in columns.items() if not one.together]
    return found[0] if found else None


def counts_households(columns: Mapping[str, Column]) -> bool:
    """Whether a model can count households: members are apart, or their number is hidden too."""
    derived = any(column.derive is not None for column in columns.values())
    homes = columns_with_role(columns, "household")
    return any(derived or not columns[name].together for name in homes)


def other_columns(columns: Mapping[str, Column]) -> list[str]:
    """The columns that are published unchanged, without the sensitive ones."""
    return [name for name, one in columns.items() if one.role in UNCHANGED and one.publish]


def acceptable_columns(columns: Mapping[str, Column]) -> list[str]:
    """The columns of which a plan may accept what they reveal.

    A sensitive column is protected by requirements, but none of them keeps it from linking members
    of a household that are hidden each by itself.
    """
    linking = household_apart(columns) is not None
    return [*other_columns(columns), *(columns_with_role(columns, "sensitive") if linking else [])]


def not_published(columns: Mapping[str, Column]) -> list[str]:
    """The columns that are not in the release.

    They are identifiers, dropped columns, and those that only serve the run.
    """
    return [
        name
        for name, column in columns.items()
        if column.role in ("identifier", "drop") or not column.publish
    ]


def relative_importance(columns: Mapping[str, Column]) -> tuple[float, ...]:
    """How much each quasi-identifier counts, scaled to a mean of 1: only the ratios matter.

    >>> age, sex = Column(role="quasi", importance=3), Column(role="quasi")
    >>> relative_importance({"age": age, "sex": sex})
    (1.5, 0.5)
    """
    given = [Fraction(columns[n].importance) for n in columns_with_role(columns, "quasi")]
    return tuple(float(one * len(given) / sum(given)) for one in given)


def limited_columns(columns: Mapping[str, Column]) -> dict[str, AtMost]:
    """The quasi-identifiers with `at_most`."""
    found = ((name, one.at_most) for name, one in columns.items())
    return {name: at_most for name, at_most in found if at_most is not None}


def microaggregated_columns(columns: Mapping[str, Column]) -> list[str]:
    """The quasi-identifiers that are published as the mean or median of a class."""
    return [name for name, column in columns.items() if column.microaggregate is not None]


def free_columns(columns: Mapping[str, Column]) -> list[str]:
    """The quasi-identifiers that may be published as free ranges or sets."""
    found = []
    for name in columns_with_role(columns, "quasi"):
        hierarchy = columns[name].hierarchy
        if hierarchy is not None and hierarchy.is_free:
            found.append(name)
    return found


def relative_to(columns: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The columns of a plan file, with hierarchy paths resolved against its folder."""
    resolved = {}
    for name, column in columns.items():
        if isinstance(column, Mapping) and isinstance(column.get("hierarchy"), str | Mapping):
            with naming(name):
                column = {**column, "hierarchy": Hierarchy.of(column["hierarchy"], folder)}
        resolved[name] = column
    return resolved


@contextmanager
def naming(column: str) -> Iterator[None]:
    """Put the name of the column in front of an error message."""
    try:
        yield
    except BadInput as error:
        begin, said = f"column {column!r}", str(error)
        if said.startswith(begin):
            raise
        if said.startswith(Column.name):  # one sentence per setting, each about "a column"
            said = said.removeprefix(Column.name).replace(f"; {Column.name}", f"; {begin}")
            raise type(error)(f"{begin}{said}") from None
        raise type(error)(f"{begin}: {said}") from None
