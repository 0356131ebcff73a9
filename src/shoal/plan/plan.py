"""Plan: all settings of a release, in one object that can be saved, edited and run again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import (
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    field_validator,
    model_validator,
)

from shoal import catalog
from shoal.algorithms import DEFAULT, Algorithm
from shoal.base.errors import BadPlan, brief, did_you_mean
from shoal.base.notebook import HtmlRows, html_block
from shoal.base.settings import AtLeastOne, NotNegative, Setting, Share
from shoal.base.wording import many
from shoal.io.frames import atomic
from shoal.io.memory import bytes_of
from shoal.io.reading import Reading
from shoal.io.written.settings import Writing
from shoal.losses import Loss
from shoal.models import Model
from shoal.plan.about import About
from shoal.plan.attackers import Attacker, check_attackers, made_attackers
from shoal.plan.check_household import check_household
from shoal.plan.check_served import check_served
from shoal.plan.check_written import check_written
from shoal.plan.limits import Limits
from shoal.plan.plan_file import PlanSource, plan_text, read_plan
from shoal.plan.population import Population
from shoal.plan.sampling_fractions import with_fraction
from shoal.plan.toml_text import toml_lines
from shoal.table.roles import (
    UNCHANGED,
    Column,
    Missing,
    Role,
    acceptable_columns,
    checked_words,
    columns_with_role,
    free_columns,
    limited_columns,
    linking_columns,
    missing_words,
    naming,
    other_columns,
)

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
    about: About = Field(default_factory=About)  # who publishes it, for what and for whom
    limits: Limits = Field(default_factory=Limits)  # thresholds for what is measured of a release
    # The population that the table is a sample of, if it is one.
    population: Population = Field(default_factory=Population)
    read: Reading = Field(default_factory=Reading)  # how files are read
    write: Writing = Field(default_factory=Writing)  # how the file of a release is written
    models: list[Model] = Field(default_factory=list)
    algorithm: Algorithm = Field(default=DEFAULT, validate_default=True)
    loss: Loss = Field(default="nllm", validate_default=True)
    attackers: list[Attacker] = Field(default_factory=list)  # []: one, who knows them all
    accept: list[str] = Field(default_factory=list)  # columns that may reveal quasi-identifiers
    seed: NotNegative | None = None
    missing: Missing = "value"
    missing_values: list[str] = Field(default_factory=lambda: [""])
    keep_order: bool = False
    suppression: Share = 0.0  # of the records that may be suppressed because of at_most
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
    _source: PlanSource = PrivateAttr(default_factory=PlanSource)

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

    @field_validator("about", mode="before")
    @classmethod
    def _about(cls, given: Any) -> About:
        if not isinstance(given, About | dict):
            raise BadPlan("[about] is a table of texts, as in owner = 'Clinic of Springfield'")
        return given if isinstance(given, About) else About(**given)

    @field_validator("limits", mode="before")
    @classmethod
    def _limits(cls, given: Any) -> Limits:
        if not isinstance(given, Limits | dict):
            raise BadPlan("[limits] is a table of limits, as in highest_risk = 0.09")
        return given if isinstance(given, Limits) else Limits(**given)

    @field_validator("population", mode="before")
    @classmethod
    def _population(cls, given: Any) -> Population:
        if not isinstance(given, Population | dict):
            raise BadPlan("[population] is a table of settings, as in fraction = 0.1")
        return given if isinstance(given, Population) else Population(**given)

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
    def _models(cls, given: Any, info: ValidationInfo) -> list[Setting]:
        if not isinstance(given, list | tuple):
            given = [given]
        people = info.data.get("population")
        return [catalog.models.make(with_fraction(model, people)) for model in given]

    @field_validator("attackers", mode="before")
    @classmethod
    def _attackers(cls, given: Any) -> list[Attacker]:
        return made_attackers(given)

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
        if (
            "algorithm" not in self.model_fields_set
            and free_columns(self.columns)
            and not self.algorithm.free
        ):
            self.__dict__["algorithm"] = catalog.algorithms.make("gaa")
        return self

    @model_validator(mode="after")
    def _written(self) -> Plan:
        check_written(self)
        return self

    @model_validator(mode="after")
    def _key_sets(self) -> Plan:
        check_attackers(self.attackers, self.columns, self.models)
        return self

    @model_validator(mode="after")
    def _one_suppression(self) -> Plan:
        own = self.algorithm.largest_suppression
        stated = own or "suppression" in self.algorithm.model_fields_set
        if own is not None and stated and self.suppression and own != self.suppression:
            raise ValueError(
                f"has suppression = {self.suppression:g}, and suppression = {own:g} for the "
                f"algorithm {self.algorithm.name}; state it once"
            )
        return self

    @property
    def allowed_suppression(self) -> float | None:
        """The share of the records that may be suppressed, if the plan is about that."""
        own = self.algorithm.largest_suppression
        if own is None and not limited_columns(self.columns):
            return None
        return own or self.suppression

    @model_validator(mode="after")
    def _accepted(self) -> Plan:
        """Only columns that are published unchanged, and that nothing else protects."""
        others = other_columns(self.columns)
        for name in self.accept:
            if name in acceptable_columns(self.columns):
                continue
            if name in self.columns:
                raise ValueError(
                    f"accepts {name!r}, which has the role {self.columns[name].role}: accept is "
                    "for columns of the role other, which are published unchanged; remove it there"
                )
            raise ValueError(
                f"accepts {name!r}, which is no column of the plan{did_you_mean(name, others)}"
            )
        return self

    @model_validator(mode="after")
    def _one_person_column(self) -> Plan:
        roles: tuple[Role, ...] = ("person", "household", "weight")
        for role in roles:
            names = columns_with_role(self.columns, role)
            if len(names) > 1:
                raise ValueError(f"can have one {role} column, but has {', '.join(names)}")
        check_household(self.columns, self.models)
        self.population.check_persons(columns_with_role(self.columns, "person"))
        persons = linking_columns(self.columns)
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

    @property
    def known(self) -> list[list[str]]:
        """The columns that each of several attackers knows; []: one attacker knows all of them."""
        return [one.knows for one in self.attackers]

    def with_seed(self, seed: int) -> Plan:
        """The same plan with another seed."""
        return self.changed(seed=seed)

    def with_reading(self, read: Reading | Mapping[str, Any] | None) -> Plan:
        """The same plan for a file that is read in another way, as in `{"sheet": "People"}`."""
        return self if read is None else self.changed(read=self.read.updated(read))

    def with_threads(self, threads: int) -> Plan:
        """The same plan with another number of threads, which does not change the release."""
        return self.changed(threads=threads)

    def changed(self, **fields: Any) -> Plan:
        """The same plan with some fields changed, validated again."""
        kept = {field: getattr(self, field) for field in type(self).model_fields}
        if self._drafted:  # then the default depends on the columns, as in its file
            del kept["algorithm"]
        if "columns" in fields and "accept" not in fields:  # some may have another role now
            given = fields["columns"]
            roles = [*UNCHANGED, *(["sensitive"] if any(map(_is_apart, given.values())) else [])]
            able = {n for n, one in given.items() if _role(one) in roles and _is_published(one)}
            kept["accept"] = [name for name in self.accept if name in able]
        if "columns" in fields and "write" not in fields and self.write.names:
            known = {name for name, one in fields["columns"].items() if _is_published(one)}
            names = {name: new for name, new in self.write.names.items() if name in known}
            kept["write"] = self.write.model_copy(update={"names": names})
        plan = Plan(**{**kept, **fields})
        plan._drafted = self._drafted and "algorithm" not in fields
        plan._source = self._source.with_changed(
            [name for name in fields if getattr(plan, name) != getattr(self, name)]
        )
        plan.notes.update(self._notes)
        plan.remarks.extend(self._remarks)
        plan.comments.extend(self._comments)
        return plan

    def check_served(self) -> None:
        """Raise an error unless the algorithm supports every model."""
        check_served(self)

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

    def inlined(self) -> Plan:
        """The same plan without files of its own: level tables are in the plan itself."""
        own = {name: column.hierarchy for name, column in self.columns.items()}
        read = {name: one.settled() for name, one in own.items() if one is not None and one.file}
        if not read:
            return self
        columns = {n: c.changed(hierarchy=read.get(n, own[n])) for n, c in self.columns.items()}
        return self.changed(columns=columns)

    def files(self) -> list[Path]:
        """The files that the plan reads."""
        hierarchies = (column.hierarchy for column in self.columns.values())
        found = [h.file for h in hierarchies if h is not None and h.file is not None]
        if isinstance(self.population.data, Path):
            found.append(self.population.data)
        return found

    @property
    def against_population(self) -> bool:
        """Whether a model counts people of a population."""
        return any(model.needs_population for model in self.models)

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
        content, source = read_plan(Path(path))
        plan = Plan(**content)
        plan._source = source
        return plan

    def save(self, path: str | Path) -> None:
        """Write the plan as a TOML file; `load` reads it back as the same plan."""
        path = Path(path)
        with atomic(path, private=True) as target:
            target.write_bytes(self.file_content(path.parent))

    def file_content(self, folder: Path) -> bytes:
        """What `save` writes into a file of this folder."""
        return self.to_toml(folder, self._drafted).encode()

    @property
    def source(self) -> PlanSource:
        """The file that the plan was read from, and what was changed after that."""
        return self._source

    def to_toml(self, folder: Path | None = None, drafted: bool = False) -> str:
        """The plan as TOML; paths of hierarchies are written relative to the folder.

        A draft leaves the algorithm open: the default depends on the columns, and these are about
        to be edited.
        """
        return plan_text(self, folder, drafted)


def _role(column: Any) -> Any:
    """The role of a column that may be given as an object, a mapping or its role."""
    if isinstance(column, Column):
        return column.role
    return column.get("role") if isinstance(column, dict) else column


def _is_apart(column: Any) -> bool:
    """Whether it is a household column whose members are hidden each by itself."""
    if isinstance(column, Column):
        return not column.together
    return isinstance(column, dict) and column.get("together") is False


def _is_published(column: Any) -> bool:
    """Whether a column that may be given in any way is published."""
    publish = column.get("publish", True) if isinstance(column, dict) else True
    publish = column.publish if isinstance(column, Column) else publish
    return _role(column) not in ("identifier", "drop") and bool(publish)


def _options(setting: Setting) -> str:
    """The options of a requirement, as a plan file has them, without its column."""
    given = {name: one for name, one in setting.setting().items() if name not in ("name", "column")}
    return ", ".join(toml_lines(given))
