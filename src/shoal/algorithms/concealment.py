"""k-concealment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from shoal.algorithms import Algorithm
from shoal.algorithms._shared.concealing.belief_limits import Limits, settle
from shoal.algorithms._shared.concealing.concealed_records import ConcealedRecords
from shoal.algorithms._shared.requirements import check_linked, check_reachable
from shoal.base.arrays import Longs
from shoal.base.errors import BadPlan, WayOut, did_you_mean
from shoal.base.progress import Progress, silent
from shoal.base.settings import AtLeastTwo
from shoal.losses import Loss
from shoal.models import MANY, TOLERANCE, LinkageModel, Model, SensitiveModel
from shoal.models.distinct_l_diversity import DistinctLDiversity
from shoal.models.frequency_l_diversity import FrequencyLDiversity
from shoal.models.k_belief import KBelief
from shoal.models.matching_belief import MatchingBelief
from shoal.models.p_sensitivity import PSensitivity
from shoal.table.encode import Table
from shoal.table.recoding import Recoding

NOT_ALIKE = (
    "the records that could be a person's are not equally likely, and one of them may be almost "
    "certain (see the attack matching); for the same certainty of an attacker, {rather} usually "
    "loses less"
)
LIMITED = (
    "the records that could be a person's are not equally likely (see the attack matching); for "
    "the same certainty of an attacker, {rather} usually loses less"
)


class Concealment(Algorithm):
    """Generalizes each record separately until it has k possible originals (Tassa 2012).

    The steps are (k,1)-anonymity, then (1,k)-anonymity (Algorithm 3), then k-concealment
    (Algorithm 5), as far as the models require them. p-sensitivity and l-diversity are satisfied
    over the records that match a person (Algorithm 7). matching-belief and shares of sensitive
    values are limits on probabilities: records by which one is exceeded are published like their
    nearest ones, until none is; or all records in classes of k people, if that loses less.

    `start`: for (k,1)-anonymity each record is published as the cheapest values that cover k
    records. The paper considers them too expensive to find (Algorithm 1) and adds one nearest
    record after the other instead (Algorithm 2, `expansion`). On Adult the cheapest values lose
    2 % less at k = 5 and a quarter less at k = 50, and the most likely record of a person is more
    likely.

    The k records that could be a person's need not be equally likely: one of them can be almost
    certain. For the same certainty of an attacker `peel` and `freeform` lose less.

    `randomized` (Sec. 7): an attacker who knows the algorithm and all originals could run it again
    and see which record became which. So each record is published, with equal probability, as its
    `start` or as the closure of k - 1 random records among its `q` nearest (Algorithm 6; by
    default 2(k - 1) of them), and records are processed in random order.
    """

    name: ClassVar[str] = "concealment"
    works_in_parts: ClassVar[bool] = False
    rather: ClassVar[str | None] = "peel with k-anonymity or freeform with k-belief"
    pace: ClassVar[float] = 1.5
    randomized: bool = Field(
        default=True, description="randomize the choice, so that a rerun does not reveal records"
    )
    start: Literal["cheapest", "expansion"] = Field(
        default="cheapest",
        description="the first values of a record: the cheapest that cover k records, or those of "
        "the paper's expansion to k near records",
    )
    q: AtLeastTwo | None = Field(
        default=None,
        description="number of nearest records to choose from; 2(k - 1) if not given",
    )

    @property
    def has_random_values(self) -> bool:
        """Whether random choices hide who became which record."""
        return self.randomized

    def serves(self, model: Model) -> bool:
        """Whether the algorithm can satisfy this model."""
        kinds = LinkageModel, MatchingBelief, PSensitivity, DistinctLDiversity, FrequencyLDiversity
        return isinstance(model, kinds) and not isinstance(model, KBelief)

    def notes(self, seed: int | None) -> list[str]:
        """Remarks for the reader of a release about how it was made."""
        if not self.randomized:
            return [
                "made without randomization: an attacker who knows all originals and the algorithm "
                "can run it again and see which record became which",
            ]
        if seed is not None:
            return [
                "made with a fixed seed: an attacker who knows all originals and the seed can run "
                "it again and see which record became which; set no seed for a release",
            ]
        return []

    def recode(
        self,
        table: Table,
        models: Sequence[Model],
        loss: Loss,
        rng: np.random.Generator,
        progress: Progress = silent,
    ) -> Recoding:
        """Generalize records until every model is satisfied."""
        needs = _needs(models)
        _check(table, models, needs, self.q if self.randomized else None)
        records = ConcealedRecords(table, loss, progress)
        vectors = records.tuples.vector
        if needs.preimages > 1:
            cheapest = self.start == "cheapest"
            vectors = (records.cheapest if cheapest else records.expand)(needs.preimages)
        each = vectors[records.original]  # int32[n, q]
        if self.randomized and needs.preimages > 1:
            near = self.q or 2 * (needs.preimages - 1)
            each = records.randomize(vectors, needs.preimages, min(near, table.rows - 1), rng)
        records.publish(each)

        def visit() -> Longs:
            return rng.permutation(table.rows) if self.randomized else np.arange(table.rows)

        if needs.neighbours > 1:
            records.cover(needs.neighbours, visit())
        if needs.matches > 1:
            records.conceal(needs.matches, visit())
            limits = Limits.of(models)
            records.diversify(limits.values, visit)
            made, in_classes = settle(records, limits, max(needs))
            if in_classes:
                return made
            advice = NOT_ALIKE if limits.belief is None else LIMITED
            return replace(made, notes=(*made.notes, advice.format(rather=self.rather)))
        return replace(records.recoding(), notes=(NOT_ALIKE.format(rather=self.rather),))


class _Needs(NamedTuple):
    """The k required for each count of a linkage model; 1: no requirement."""

    preimages: int
    neighbours: int
    matches: int


def _needs(models: Sequence[Model]) -> _Needs:
    asked = {"preimages": 1, "neighbours": 1, "matches": 1}
    for model in models:
        if isinstance(model, LinkageModel):
            # Concealment starts from (k,k)-anonymity (Algorithm 5).
            views = {"both": ("preimages", "neighbours"), "matches": tuple(asked)}
            for view in views.get(model.view, (model.view,)):
                asked[view] = max(asked[view], model.k)
        if isinstance(model, MatchingBelief):
            # Probabilities add up to 1, so that the highest is 1 / the number of matches or more.
            least = ceil(min(1.0 / model.belief, float(MANY)) - TOLERANCE)
            asked = {view: max(k, least) for view, k in asked.items()}
    return _Needs(**asked)


def _check(table: Table, models: Sequence[Model], needs: _Needs, q: int | None) -> None:
    """Raise an error for requirements that cannot be satisfied."""
    if any(isinstance(model, SensitiveModel) for model in models) and needs.matches == 1:
        raise BadPlan(
            "concealment satisfies models about sensitive values only together with "
            "k-concealment; add that model, or choose an algorithm that forms classes"
        ).offering(WayOut("add", "k-concealment", {"k": max(2, needs.preimages)}))
    check_linked(table, models)
    if q is not None and q < needs.preimages > 1:
        raise BadPlan(
            f"concealment: q={q} leaves no choice of {needs.preimages - 1} near records; use a "
            f"q of {needs.preimages} or more"
        )
    names = [one.name for one in table.sensitive]
    for one in models:
        if isinstance(one, SensitiveModel) and one.column not in names:
            raise BadPlan(
                f"{one.name} is about the column {one.column!r}, which is not a sensitive column "
                f"of the table; give it the role sensitive{did_you_mean(one.column, names)}"
            )
    check_reachable(table, [one for one in models if isinstance(one, SensitiveModel)])
