"""The file of a recoding: JSON with a checksum of its content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from shoal.base.errors import BadFile, BadInput
from shoal.base.version import __version__
from shoal.flow.apply.labels import Vector
from shoal.io.frames import atomic
from shoal.io.sources import check_source
from shoal.plan import Plan
from shoal.plan.plan_file import TABLES
from shoal.table.roles import columns_with_role

FORMAT, VERSION = "shoal recoding", 2
CONTENT = ("plan", "order", "columns", "vectors")  # the parts that the checksum covers


class Content(NamedTuple):
    """The content of a recoding file."""

    plan: Plan
    vectors: tuple[Vector, ...]
    order: tuple[str, ...]


def write(content: Content, path: str | Path) -> None:
    """Write a recoding file, readable by its owner only."""
    names = columns_with_role(content.plan.columns, "quasi")
    said = {
        "plan": _as_dict(content.plan),
        "order": content.order,
        "columns": names,
        "vectors": content.vectors,
    }
    head = {"format": FORMAT, "version": VERSION, "shoal": __version__, "sha256": checksum(said)}
    parts = [f"{json.dumps(key)}: {_json(value)}" for key, value in head.items()]
    parts.append(f'"plan": {_json(said["plan"])}')
    parts.append(f'"order": {_json(content.order)}')
    parts.append(f'"columns": {_json(names)}')
    lines = ",\n".join(map(_json, content.vectors))  # one vector per line
    parts.append(f'"vectors": [\n{lines}\n]')
    with atomic(path, private=True) as target:
        target.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def read(path: str | Path) -> Content:
    """Read a recoding file; raise an error if it was changed after it was written."""
    check_source(Path(path), "the recoding ", "; `shoal anonymize --recoding` writes one")
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(f"cannot read the recoding {path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise BadFile(
            f"{path} is damaged or not a recoding file: it cannot be read as JSON; write it again "
            "with `shoal anonymize --recoding`"
        ) from None
    try:
        return _checked(_said(content))
    except BadInput as error:
        raise BadFile(f"{path}: {error}") from None


def checksum(said: Mapping[str, Any]) -> str:
    """A checksum of the content."""
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _said(content: Any) -> dict[str, Any]:
    """The content of a file; an error unless it is of this format and unchanged."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise BadFile("this is not a recoding file; `shoal anonymize --recoding` writes one")
    if content.get("version") != VERSION:
        raise BadFile(
            f"it has version {content.get('version')!r} of the format, and this shoal reads "
            f"version {VERSION}; write it again, or use the version of shoal that wrote it"
        )
    said: dict[str, Any] = {key: content.get(key) for key in CONTENT}
    if content.get("sha256") != checksum(said):
        raise BadFile(
            "it was changed after it was written, or is damaged: its checksum does not match. "
            "Write it again with `shoal anonymize --recoding`"
        )
    return said


def _checked(said: dict[str, Any]) -> Content:
    """The plan and its vectors, or an error unless they belong together."""
    plan, vectors, order = said["plan"], said["vectors"], said["order"]
    if not isinstance(plan, dict) or not isinstance(vectors, list) or not isinstance(order, list):
        raise BadFile("it lacks the plan, the vectors or the order of columns; write it again")
    _check_labels(vectors, order)
    content = Content(Plan(**plan), tuple(tuple(vector) for vector in vectors), tuple(order))
    content.plan.check_served()  # without requirements anything could be published
    if not set(content.order) <= set(content.plan.columns):
        raise BadFile("it publishes columns that are not in its plan; write it again")
    names = columns_with_role(content.plan.columns, "quasi")
    if said["columns"] != names or any(len(one) != len(names) for one in content.vectors):
        raise BadFile("its vectors belong to another plan; write it again")
    return content


def _check_labels(vectors: Sequence[Any], order: Sequence[Any]) -> None:
    labels = [*order, *(label for one in vectors if isinstance(one, list) for label in one)]
    if not all(isinstance(one, list) for one in vectors) or not all(
        label is None or isinstance(label, str) for label in labels
    ):
        raise BadFile("its vectors are not lists of values as text; write it again")


def _as_dict(plan: Plan) -> dict[str, Any]:
    """The plan as JSON values."""
    columns = {
        name: column.setting_in()
        | ({} if column.hierarchy is None else {"hierarchy": column.hierarchy.setting()})
        for name, column in plan.columns.items()
    }
    return {
        "columns": columns,
        "models": [model.setting() for model in plan.models],
        "algorithm": plan.algorithm.setting(),
        "loss": plan.loss.setting(),
        "missing": plan.missing,
        "missing_values": plan.missing_values,
        "keep_order": plan.keep_order,
        **({"suppression": plan.suppression} if plan.suppression else {}),
        **{name: stated for name in TABLES if (stated := getattr(plan, name).stated())},
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
