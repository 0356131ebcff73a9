"""What shoal publishes for table 3 of the slides, and the best that is possible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from shoal.algorithms.gaa import GAA
from shoal.flow.anonymize import anonymize
from shoal.flow.audit import Audit, audit
from shoal.hierarchies.tree import Tree
from shoal.io.frames import open_frame
from shoal.measures.information_loss import measure
from shoal.models import Model
from shoal.models.k_anonymity import KAnonymity
from shoal.papers.li2007.audit import Judged, closeness
from shoal.papers.li2007.slides import DISEASE, QUASI, SALARIES, SALARY, STATED, Content, Slide
from shoal.plan import Plan
from shoal.table.encode import encode
from shoal.table.published_table import read_published

K = 3
Parts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Request:
    """What is asked for; without distances, k-anonymity alone."""

    salary: float | None = None
    disease: float | None = None

    @property
    def text(self) -> str:
        """The request in a few words.

        >>> Request().text, Request(0.167, 8 / 27).text
        ('k = 3', 'k = 3, t = 0.167 and 0.296')
        """
        if self.salary is None or self.disease is None:
            return f"k = {K}"
        return f"k = {K}, t = {self.salary:.3f} and {self.disease:.3f}"

    def models(self, slide: Slide) -> list[Model]:
        """The models that express it."""
        models: list[Model] = [KAnonymity(k=K)]
        if self.salary is not None:
            models.append(closeness(slide, SALARY, self.salary))
        if self.disease is not None:
            models.append(closeness(slide, DISEASE, self.disease))
        return models


@dataclass(frozen=True)
class Own:
    """A table that satisfies a request, as its readers would see it."""

    request: Request
    content: Content
    audit: Audit  # against the original

    @property
    def loss(self) -> float:
        """Percent of alteration by NLLM, which guides the merge."""
        assert self.audit.quality is not None
        return self.audit.quality.losses["nllm"]

    def same_as(self, tables: Mapping[str, Judged]) -> str:
        """Which version of table 3 in the slides is this one; an empty text for none."""
        for name in ("table 4", "table 5"):
            theirs = tables[name].slide.content
            if all(self.content[column] == theirs[column] for column in QUASI):
                return name
        return ""


@dataclass(frozen=True)
class PartitionSearch:
    """All partitions into classes of at least three records, and those that satisfy a request."""

    tables: int  # different tables
    keep: int  # of these satisfy the request
    most_classes: int  # of those that do
    cheapest: Own
    as_cheap: int  # how many lose as little


def requests(tables: Mapping[str, Judged]) -> list[Request]:
    """k alone; with the distances of the slides' title; with those that their table 5 has."""
    theirs = {one.column: one.theirs for one in STATED if one.table == "table 5"}
    reached = tables["table 5"].level("t-closeness", DISEASE)
    return [
        Request(),
        Request(theirs[SALARY], theirs[DISEASE]),
        Request(theirs[SALARY], reached),
    ]


def publish(original: Slide, request: Request) -> Own:
    """Let shoal anonymize the table; it verifies the result, or raises an error."""
    plan = Plan(columns=SALARIES, models=request.models(original), algorithm=GAA(), seed=0)
    frame = anonymize(original.frame, plan, keep_order=True).frame
    return _own(original, request, frame.to_pydict())


def search(original: Slide, request: Request) -> PartitionSearch:
    """Try all partitions into classes, each published as the most specific values that cover it.

    The slides' tree of a column says what may be published, so this is a bound for any algorithm
    that forms classes and suppresses no record.
    """
    models, plan = request.models(original), Plan(columns=SALARIES)
    table = encode(open_frame(original.frame), plan.columns, plan.missing, plan.missing_values)
    tables, satisfying = set(), []
    for parts in partitions(tuple(range(original.frame.num_rows))):
        content = generalized(original, parts)
        key = tuple(tuple(content[name]) for name in QUASI)
        if key in tables:  # two classes that are published alike are one
            continue
        tables.add(key)
        frame = original._replace(content=content).frame
        published = read_published(open_frame(frame), SALARIES)
        if all(model.satisfied(published.classes).all() for model in models):
            loss = measure(table, published, plan.loss).losses["nllm"]
            satisfying.append(_Tried(content, loss, len(published.classes)))
    # The whole table in one class satisfies every request, so there is a cheapest one.
    cheapest = min(satisfying, key=lambda tried: tried.loss)
    return PartitionSearch(
        tables=len(tables),
        keep=len(satisfying),
        most_classes=max(tried.classes for tried in satisfying),
        cheapest=_own(original, request, cheapest.content),
        as_cheap=sum(tried.loss <= cheapest.loss + 1e-9 for tried in satisfying),
    )


class _Tried(NamedTuple):
    """A table that satisfies a request."""

    content: Content
    loss: float
    classes: int


def partitions(rows: tuple[int, ...]) -> Iterator[Parts]:
    """All partitions of rows into classes of at least K.

    >>> [len(list(partitions(tuple(range(n))))) for n in (2, 3, 5, 6)]
    [0, 1, 1, 11]
    """
    if not rows:
        yield ()
        return
    first, others = rows[0], rows[1:]
    for size in range(K - 1, len(rows)):
        for mates in combinations(others, size):
            left = tuple(row for row in others if row not in mates)
            for rest in partitions(left):
                yield ((first, *mates), *rest)


def generalized(original: Slide, parts: Parts) -> Content:
    """The table in which every class has the most specific values that cover its rows."""
    content: Content = {name: list(of) for name, of in original.content.items()}
    for name, column in QUASI.items():
        assert column.hierarchy is not None
        tree = column.hierarchy.tree()
        for part in parts:
            label = _least(tree, [str(original.content[name][row]) for row in part])
            for row in part:
                content[name][row] = label
    return content


def _least(tree: Tree, labels: Sequence[str]) -> str:
    node = tree.node(labels[0])
    for label in labels[1:]:
        node = tree.join(node, tree.node(label))
    return str(tree.labels[node])


def _own(original: Slide, request: Request, content: Content) -> Own:
    """Audit a table against the original, in the same way for every request."""
    everything = [KAnonymity(k=K), closeness(original, SALARY), closeness(original, DISEASE)]
    plan = Plan(columns=SALARIES, models=everything)
    frame = original._replace(content=content).frame
    return Own(request, content, audit(frame, plan, original=original.frame))
