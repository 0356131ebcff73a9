"""Answers: the role of each column and the requirements, as a dialogue or a file gives them.

```toml
k = 5

[columns]
name = "identifier"
age = "quasi"

[diversity]
diagnosis = 3
```
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

from shoal.base.errors import BadFile, BadPlan, did_you_mean, preview
from shoal.flow.draft.draft import Draft, Examined, complete, draft_k
from shoal.flow.draft.guess_role import Guess, guess_role
from shoal.io.frames import atomic
from shoal.io.sources import check_source
from shoal.models.distinct_l_diversity import DistinctLDiversity
from shoal.models.k_anonymity import KAnonymity
from shoal.plan import Plan
from shoal.plan.toml_text import toml_line
from shoal.table.roles import ROLES, Role

OWN = "your answer"
FIELDS = ("k", "columns", "diversity")


@dataclass(frozen=True)
class Answers:
    """What the user decided; columns that are not named keep the role of the draft."""

    roles: Mapping[str, Role] = field(default_factory=dict)
    k: int | None = None  # None: that of a draft
    diversity: Mapping[str, int] = field(default_factory=dict)  # l, by sensitive column

    def with_role(self, column: str, role: Role) -> Answers:
        """The same, with another role of a column."""
        return replace(self, roles={**self.roles, column: role})


def read_answers(path: Path) -> Answers:
    """Read a file of answers."""
    check_source(path, "the answers ", "; `shoal setup DATA --save-answers FILE` writes them")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BadFile(f"cannot read the answers {path}: {error.strerror}") from None
    except ValueError as error:  # not UTF-8, or not TOML
        raise BadFile(f"{path} is not a file of answers in TOML: {error}") from None
    for word in content:
        if word not in FIELDS:
            raise BadFile(
                f"{path} has an unknown answer {word!r}{did_you_mean(word, FIELDS) or ';'} "
                f"there are {', '.join(FIELDS)}"
            )
    k = content.get("k")
    if k is not None and not _is_count(k):
        raise BadFile(f"{path}: k is a whole number of 2 or more, got {k!r}")
    roles, diversity = _table(content, "columns", path), _table(content, "diversity", path)
    for column, role in roles.items():
        if role not in get_args(Role):
            raise BadFile(
                f"{path} gives the column {column!r} the role {role!r}; roles are {ROLES}"
            )
    for column, fewest in diversity.items():
        if not _is_count(fewest):
            raise BadFile(f"{path}: the diversity of {column!r} is a whole number of 2 or more")
    return Answers(roles, k, diversity)


def text_of(answers: Answers) -> str:
    """The answers as a file, so that a dialogue can be repeated."""
    lines = [] if answers.k is None else [f"k = {answers.k}", ""]
    lines.append("[columns]")
    lines += [toml_line(name, role) for name, role in answers.roles.items()]
    if answers.diversity:
        lines += ["", "[diversity]"]
        lines += [toml_line(name, fewest) for name, fewest in answers.diversity.items()]
    return "\n".join(lines) + "\n"


def save(plan: Plan, out: Path, answers: Answers, answers_file: Path | None) -> None:
    """Write the plan, and the answers if a file is named: both or none."""
    with ExitStack() as files:
        if answers_file is not None:
            target = files.enter_context(atomic(answers_file, private=True))
            target.write_text(text_of(answers), encoding="utf-8")
        plan.save(out)


def plan_of(examined: Examined, answers: Answers) -> Draft:
    """The plan that follows from the answers; raises an error if they do not fit together."""
    names = examined.frame.names
    unknown = [name for name in (*answers.roles, *answers.diversity) if name not in names]
    if unknown:
        raise BadFile(
            f"answers for columns that the table lacks: {preview(unknown)}"
            f"{did_you_mean(unknown[0], names)}"
        )
    guesses = {name: decided(examined, name, answers) for name in names}
    for name in answers.diversity:
        if guesses[name].role != "sensitive":
            raise BadPlan(
                f"a diversity is for sensitive columns, and {name!r} has the role "
                f"{guesses[name].role}"
            )
    if not any(guess.role == "quasi" for guess in guesses.values()):
        raise BadPlan(
            "no column can be known to an outsider (role quasi), so that there is nothing to "
            "generalize; change an answer"
        )
    k = draft_k(examined) if answers.k is None else answers.k
    models: list[Any] = [KAnonymity(k=k)]
    models += [
        DistinctLDiversity(column=name, l=fewest) for name, fewest in answers.diversity.items()
    ]
    draft = complete(examined, guesses, models)
    draft.plan.check_served()
    return draft


def decided(examined: Examined, name: str, answers: Answers) -> Guess:
    """The guess of the draft, or what the user said."""
    guess = examined.guesses[name]
    role = answers.roles.get(name, guess.role)
    if role == guess.role:
        return guess
    return guess_role(examined.facts[name], role, OWN)


def defaulted(examined: Examined, answers: Answers) -> list[str]:
    """The columns that keep the role of the draft because there is no answer for them."""
    return [name for name in examined.frame.names if name not in answers.roles]


def _table(content: Mapping[str, Any], name: str, path: Path) -> dict[str, Any]:
    found = content.get(name, {})
    if not isinstance(found, dict):
        raise BadFile(f"{path}: {name} is a table, as in [{name}]")
    return found


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 2
