"""Plan: all settings of a release, in one object that can be saved, edited and run again."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict, Field, PrivateAttr, field_validator, model_validator

from shoal import catalog
from shoal.algorithms import Algorithm
from shoal.base.errors import BadFile, BadPlan, brief, is_text, preview
from shoal.base.notebook import HtmlRows, html_block
from shoal.base.settings import AtLeastOne, NotNegative, Setting
from shoal.base.wording import many
from shoal.io.frames import atomic
from shoal.io.memory import bytes_of
from shoal.io.reading import Reading
from shoal.io.sources import check_source
from shoal.io.written.settings import Writing
from shoal.losses import Loss
from shoal.models import Model
from shoal.table.roles import (
    Column,
    Missing,
    checked_words,
    columns_with_role,
    free_columns,
    missing_words,
    naming,
    relative_to,
)
from shoal.table.written.ranges import bound_names

__all__ = ["Plan"]


class Plan(Setting):
    """What to publish, which privacy models it must satisfy, and how to compute it.

    >>> plan = Plan(
    ...     columns={"age": {"role": "quasi", "hierarchy": {"ranges": [5, 10]}}},
    ...     models=[{"name": "k-anonymity", "k": 5}],
    ... )
    >>> plan.loss.name, plan.algorithm.name
    ('nllm', 'peel')
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    name: ClassVar[str] = "the plan"

    columns: dict[str, Column]
    read: Reading = Field(default_factory=Reading)  # how files are read
    write: Writing = Field(default_factory=Writing)  # how the file of a release is written
    models: list[Model] = Field(default_factory=list)
    algorithm: Algorithm = Field(default="peel", validate_default=True)
    loss: Loss = Field(default="nllm", validate_default=True)
    seed: NotNegative | None = None
    missing: Missing = "value"
    missing_values: list[str] = Field(default_factory=lambda: [""])
    keep_order: bool = False
    engine: Literal["auto", "memory", "duckdb", "spark"] = "auto"
    memory: str | None = None  # that an engine may use, as in "2GB"; None: half of the machine's
    temp_directory: str | None = None  # of an engine; None: next to the input
    threads: AtLeastOne | None = None  # None: one per available core
    # Into which the table is cut, each recoded by itself; "auto": as many as the memory requires.
    parts: int | Literal["auto"] = "auto"
    _notes: dict[str, str] = PrivateAttr(default_factory=dict)
    _remarks: list[str] = PrivateAttr(default_factory=list)
    _comments: list[str] = PrivateAttr(default_factory=list)
    _drafted: bool = PrivateAttr(default=False)  # whether its file leaves the algorithm open

    @field_validator("columns", mode="before")
    @classmethod
    def _columns(cls, given: Any) -> dict[str, Column]:
        if not isinstance(given, dict) or not given:
            raise BadPlan("the plan needs columns: a mapping from each column to its role")
        columns = {}
        for name, column in given.items():
            with naming(name):
                if isinstance(column, str):
                    column = {"role": column}
                if not isinstance(column, Column | dict):
                    raise BadPlan("give it a role, as in role = 'quasi'")
                columns[name] = column if isinstance(column, Column) else Column(**column)
        return columns

    @field_validator("read", mode="before")
    @classmethod
    def _read(cls, given: Any) -> Reading:
        if not isinstance(given, Reading | dict):
            raise BadPlan("[read] is a table of settings, as in encoding = 'latin-1'")
        return given if isinstance(given, Reading) else Reading(**given)

    @field_validator("write", mode="before")
    @classmethod
    def _write(cls, given: Any) -> Writing:
        if not isinstance(given, Writing | dict):
            raise BadPlan("[write] is a table of settings, as in ranges = 'bounds'")
        return given if isinstance(given, Writing) else Writing(**given)

    @field_validator("models", mode="before")
    @classmethod
    def _models(cls, given: Any) -> list[Setting]:
        if not isinstance(given, list | tuple):
            given = [given]
        return [catalog.models.make(model) for model in given]

    @field_validator("algorithm", mode="before")
    @classmethod
    def _algorithm(cls, given: Any) -> Setting:
        return catalog.algorithms.make(given)

    @field_validator("loss", mode="before")
    @classmethod
    def _loss(cls, given: Any) -> Setting:
        return catalog.losses.make(given)

    @field_validator("memory")
    @classmethod
    def _memory(cls, given: str | None) -> str | None:
        if given is not None:
            bytes_of(given)
        return given

    @field_validator("parts", mode="before")
    @classmethod
    def _parts(cls, given: Any) -> Any:
        if given != "auto" and (isinstance(given, bool) or not isinstance(given, int) or given < 1):
            raise ValueError(
                f"needs parts = 'auto' or a number of 1 or more, got parts={brief(given)}"
            )
        return given

    @field_validator("missing_values")
    @classmethod
    def _missing_values(cls, given: list[str]) -> list[str]:
        return checked_words(given)

    @model_validator(mode="after")
    def _default_algorithm(self) -> Plan:
        """If no algorithm is named and the default does not support free values, use gaa."""
        if "algorithm" not in self.model_fields_set and self._free and not self.algorithm.free:
            self.__dict__["algorithm"] = catalog.algorithms.make("gaa")
        return self

    @model_validator(mode="after")
    def _names_of_bounds(self) -> Plan:
        """Columns with bounds need names that no other column has."""
        spelled = [n for n, one in self.columns.items() if one.spelling and one.thousands == "."]
        if self.write.ranges == "midpoint" and spelled:
            raise ValueError(
                "cannot have ranges = 'midpoint' under [write] with thousands = '.' (column "
                f"{spelled[0]!r}): the same plan could not tell a midpoint 1.234 from 1234; choose "
                "'label' or 'bounds'"
            )
        if self.write.ranges == "midpoint" and self.linked:
            model = next(model.name for model in self.models if model.linkage)
            raise ValueError(
                f"cannot have ranges = 'midpoint' under [write] with {model}, which compares the "
                "ranges with the original; choose 'label' or 'bounds'"
            )
        if self.write.ranges == "bounds":
            if not self.read.header:
                raise ValueError(
                    "cannot have ranges = 'bounds' under [write] with header = false under [read]: "
                    "the columns of bounds are known by their names"
                )
            for name in columns_with_role(self.columns, "quasi"):
                used = [new for new in bound_names(name) if new in self.columns]
                hierarchy = self.columns[name].hierarchy
                if used and (hierarchy.has_ends if hierarchy else self.algorithm.is_auto):
                    raise ValueError(
                        f"has a column {used[0]!r}, which is the name of a bound of {name!r} with "
                        "ranges = 'bounds' under [write]; rename it, or choose 'label'"
                    )
        return self

    @model_validator(mode="after")
    def _one_person_column(self) -> Plan:
        persons = columns_with_role(self.columns, "person")
        if len(persons) > 1:
            raise ValueError(f"can have one person column, but has {', '.join(persons)}")
        lost = [model.name for model in self.models if model.needs_person_column]
        if lost and not persons:
            raise ValueError(
                f"needs a person column for {lost[0]}: give the role person to the column that "
                "identifies the person of a record"
            )
        return self

    @property
    def notes(self) -> dict[str, str]:
        """Why a draft chose each role, by column; comments in the plan file."""
        return self._notes

    @property
    def remarks(self) -> list[str]:
        """What a draft says about the whole plan; comments on top of the plan file."""
        return self._remarks

    def missing_of(self, name: str) -> Sequence[str]:
        """The words that mean missing in a column."""
        return missing_words(self.columns, name, self.missing_values)

    @property
    def comments(self) -> list[str]:
        """Further lines of a draft, such as a ranking; comments at the end of the plan file."""
        return self._comments

    @property
    def linked(self) -> bool:
        """Whether a model is about the graph that links original and release."""
        return any(model.linkage for model in self.models)

    def with_seed(self, seed: int) -> Plan:
        """The same plan with another seed."""
        return self.changed(seed=seed)

    def with_threads(self, threads: int) -> Plan:
        """The same plan with another number of threads, which does not change the release."""
        return self.changed(threads=threads)

    def changed(self, **fields: Any) -> Plan:
        """The same plan with some fields changed, validated again."""
        kept = {field: getattr(self, field) for field in type(self).model_fields}
        if self._drafted:  # then the default depends on the columns, as in its file
            del kept["algorithm"]
        plan = Plan(**{**kept, **fields})
        plan._drafted = self._drafted and "algorithm" not in fields
        plan.notes.update(self._notes)
        plan.remarks.extend(self._remarks)
        plan.comments.extend(self._comments)
        return plan

    def check_served(self) -> None:
        """Raise an error unless the algorithm supports every model."""
        if not self.models:
            raise BadPlan("the plan has no requirements; add a model, for example k-anonymity")
        if self.linked and columns_with_role(self.columns, "person"):
            raise BadPlan(
                f"{next(m.name for m in self.models if m.linkage)} is about records, and the plan "
                "has a person column; drop that column if each record may stand for a person, or "
                "choose another model"
            )
        self._check_free()
        self._check_parts()
        lost = [model for model in self.models if not self.algorithm.serves(model)]
        if not lost:
            return
        whole = [n for n in catalog.algorithms.decided if self._served_by(n, self.models)]
        if not whole and self._served_by_some(lost[0]):
            others = [m.key for m in self.models if self.algorithm.serves(m)]
            raise BadPlan(
                f"the algorithm {self.algorithm.name} does not support {lost[0].key}, and no "
                f"algorithm supports it together with {' and '.join(others)}; remove one of them"
            )
        raise BadPlan(
            f"the algorithm {self.algorithm.name} does not support {lost[0].key}; "
            f"these do: {', '.join(whole) or 'none yet'}"
        )

    @property
    def _free(self) -> list[str]:
        """The quasi-identifiers that may be published as free ranges or sets."""
        return free_columns(self.columns)

    def _check_free(self) -> None:
        """Raise an error if there are free ranges or sets, but algorithm or loss needs trees."""
        free = self._free
        if free and not self.algorithm.free:
            able = [
                name
                for name, kind in catalog.algorithms.decided.items()
                if issubclass(kind, Algorithm) and kind.free
            ]
            raise BadPlan(
                f"the algorithm {self.algorithm.name} needs trees, and {preview(free)} may be "
                f"published as free ranges or sets; these support them: {', '.join(able)}"
            )
        if free and self.loss.needs_trees:
            raise BadPlan(
                f"the loss {self.loss.name} is about edges of trees, and {preview(free)} may be "
                "published as free ranges or sets; choose another loss, or give these columns trees"
            )

    def _check_parts(self) -> None:
        """Raise an error if the plan asks for parts that it cannot have."""
        if self.parts in ("auto", 1):
            return
        why = ""
        if persons := columns_with_role(self.columns, "person"):
            why = f"a person column ({persons[0]!r}): the records of a person must stay together"
        elif not self.algorithm.works_in_parts:
            why = f"the algorithm {self.algorithm.name}, which needs the whole table"
        if why:
            raise BadPlan(f"parts = {self.parts} is not possible with {why}; set parts = 1")

    def _served_by_some(self, model: Model) -> bool:
        return any(self._served_by(name, [model]) for name in catalog.algorithms.decided)

    def _served_by(self, name: str, models: Sequence[Model]) -> bool:
        algorithm: Any = catalog.algorithms[name]()
        return all(algorithm.serves(model) for model in models)

    @staticmethod
    def of(given: Any) -> Plan:
        """A plan given as an object, as the path of its file, or as a mapping."""
        if isinstance(given, Plan):
            return given
        if isinstance(given, str | Path):
            return Plan.load(given)
        if isinstance(given, dict):
            return Plan(**given)
        raise BadPlan(f"a plan is a Plan, a path or a mapping, not {type(given).__name__}")

    def files(self) -> list[Path]:
        """The files that the plan reads."""
        hierarchies = (column.hierarchy for column in self.columns.values())
        return [h.file for h in hierarchies if h is not None and h.file is not None]

    def __repr__(self) -> str:
        return f"Plan of {len(self.columns)} columns:\n{self.to_toml()}"

    def _repr_html_(self) -> str:
        """What a notebook shows: the columns, and what is required."""
        columns = [
            [name, one.role, "" if one.hierarchy is None else one.hierarchy.describe()]
            for name, one in self.columns.items()
        ]
        tables: list[HtmlRows] = [(["column", "role", "generalized"], columns)]
        if self.models:
            models = [[one.key, _options(one)] for one in self.models]
            tables.append((["requirement", ""], models))
        facts = [("algorithm", self.algorithm.name), ("loss", self.loss.name)]
        return html_block(f"Plan of {many(len(self.columns), 'column')}", facts, tables)

    @staticmethod
    def load(path: str | Path) -> Plan:
        """Read a plan file; paths in it are relative to it."""
        path = Path(path)
        check_source(path, "the plan ", "; `shoal draft` proposes a plan")
        try:
            written = path.read_text(encoding="utf-8-sig")
            content = tomllib.loads(written)
        except RecursionError:
            raise BadPlan(
                f"{path}: tables or lists are nested too deeply; write a deep hierarchy as a file "
                "of levels, or give each value its parent (parents)"
            ) from None
        except OSError as error:
            raise BadFile(f"cannot read the plan {path}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise BadFile(f"{path} is not UTF-8 text; a plan is a TOML file") from None
        except tomllib.TOMLDecodeError as error:
            hint = _named_twice(str(error), written)
            raise BadPlan(f"{path} is not valid TOML: {error}{hint}") from None
        except ValueError:  # Python does not read integers with thousands of digits
            raise BadPlan(f"{path} has a number with too many digits") from None
        if isinstance(content.get("columns"), dict):
            content["columns"] = relative_to(content["columns"], path.parent)
        return Plan(**content)

    def save(self, path: str | Path) -> None:
        """Write the plan as a TOML file; `load` reads it back as the same plan."""
        path = Path(path)
        with atomic(path, private=True) as target:
            target.write_text(self.to_toml(path.parent, self._drafted), encoding="utf-8")

    def to_toml(self, folder: Path | None = None, drafted: bool = False) -> str:
        """The plan as TOML; paths of hierarchies are written relative to the folder.

        A draft leaves the algorithm open: the default depends on the columns, and these are about
        to be edited.
        """
        lines = [_comment(remark) for remark in self._remarks]
        loss = self.loss.setting()
        if len(loss) == 1:
            lines.append(f"loss = {_toml(loss['name'])}")
        for field in FIELDS:
            value = getattr(self, field)
            if value is not None and value != type(self).model_fields[field].get_default(
                call_default_factory=True
            ):
                lines.append(f"{field} = {_toml(value)}")
        if stated := self.read.stated():
            lines += ["", "[read]", *_fields(stated)]
        if stated := self.write.stated():
            lines += ["", "[write]", *_fields(stated)]
        lines += ["", "[columns]"]
        for name, column in self.columns.items():
            entry = column.setting_in(folder)
            note = f"  {_comment(self._notes[name])}" if name in self._notes else ""
            lines.append(f"{_key(name)} = {_toml(entry)}{note}")
        for model in self.models:
            lines += ["", "[[models]]", *_fields(model.setting())]
        if drafted:
            lines += ["", *_OPEN]
        else:
            lines += ["", "[algorithm]", *_fields(self.algorithm.setting())]
        if len(loss) > 1:
            lines += ["", "[loss]", *_fields(loss)]
        if self._comments:
            lines += ["", *map(_comment, self._comments)]
        return "\n".join(lines).lstrip() + "\n"


# Fields that a plan file has on top, if they differ from their defaults.
FIELDS = (
    "seed",
    "missing",
    "missing_values",
    "keep_order",
    "engine",
    "memory",
    "temp_directory",
    "threads",
    "parts",
)
_OPEN = [
    "# The default algorithm is peel, or gaa if a column has free ranges or sets.",
    "# To choose another one (`shoal list algorithms` lists them):",
    "# [algorithm]",
    '# name = "auto"',
]


def _named_twice(error: str, written: str) -> str:
    """Name the key that a plan file has twice; the TOML error has only its line."""
    found = re.match(r"Cannot overwrite a value \(at line (\d+),", error)
    if found is None:
        return ""
    name = written.split("\n")[int(found[1]) - 1].partition("=")[0].strip(" \"'")
    return f"; {name!r} occurs twice: keep one of the lines, as a column has one role"


def _comment(text: str) -> str:
    """A comment on one line: names and labels of columns may have line breaks."""
    return "# " + "".join(c if c.isprintable() else " " for c in text)


def _fields(setting: dict[str, Any]) -> list[str]:
    return [f"{_key(name)} = {_toml(value)}" for name, value in setting.items()]


def _options(setting: Setting) -> str:
    """The options of a requirement, as a plan file has them, without its column."""
    given = {name: one for name, one in setting.setting().items() if name not in ("name", "column")}
    return ", ".join(_fields(given))


def toml_line(name: str, value: Any) -> str:
    """A line of a TOML file.

    >>> toml_line("birth date", ["quasi", 5])
    '"birth date" = ["quasi", 5]'
    """
    return f"{_key(name)} = {_toml(value)}"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml(name)


def _toml(value: Any) -> str:
    """A value in TOML; its strings and numbers are those of JSON."""
    if isinstance(value, dict):
        inside = ", ".join(f"{_key(str(k))} = {_toml(v)}" for k, v in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str) and not is_text(value):
        raise BadPlan(
            f"the plan contains {value!r}, half a character (a lone surrogate), which cannot be "
            "written to a file; remove it"
        )
    # DEL is the only character that JSON does not escape and TOML does not allow.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
