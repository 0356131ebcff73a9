"""Notes: remarks for the reader of a release or an audit, one sentence each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from shoal.base.errors import SHOWN, preview
from shoal.base.wording import number
from shoal.hierarchies.values import plain, text
from shoal.io.frames import Frame
from shoal.io.raw_text.encodings import shown
from shoal.io.text_layout import ENCODING_KEY
from shoal.losses.weights import Weights
from shoal.measures.samples.sample_risks import OTHER, SampleRisks
from shoal.plan import Plan
from shoal.table.coded_columns import coded, coded_as_text
from shoal.table.coding import merged_note
from shoal.table.encode import Table
from shoal.table.published_table import Published
from shoal.table.roles import (
    columns_with_role,
    household_apart,
    limited_columns,
    linking_columns,
    microaggregated_columns,
    other_columns,
)
from shoal.table.written import microaggregation
from shoal.table.written.form import kept_as_text


def encodings(schema: pa.Schema | None) -> list[str]:
    """Report that the encoding of a file was found, not stated."""
    encoding = (schema.metadata or {}).get(ENCODING_KEY) if schema is not None else None
    if encoding is None:
        return []
    name = encoding.decode()
    if name.startswith("utf"):
        return [f"the file was read as {shown(name)}, by its byte order mark"]
    return [
        f"the file is not in UTF-8 and was read as {shown(name)}; if letters with accents are "
        "wrong, state its encoding in the plan, as in [read] encoding = 'cp850'"
    ]


def ranges_as_labels(plan: Plan) -> list[str]:
    """Report that a recoding with weights writes labels where its plan asks for bounds.

    Its hierarchies are lists of values, for which the weights are given.
    """
    if plan.write.ranges == "label" or not isinstance(plan.loss, Weights):
        return []
    return [
        f"ranges are written as labels, not as ranges = {plan.write.ranges!r} of [write] asks: a "
        "recoding with the loss weights lists its ranges as values; choose another loss to have "
        "them"
    ]


def without_person(frame: Frame, plan: Plan) -> list[str]:
    """Warn of records that do not say which person they belong to."""
    notes = []
    for name in linking_columns(plan.columns):
        kind = plan.columns[name].role
        if name not in frame.names:
            counted = (
                f"each record counts as one {kind}, which overstates k if a {kind} has several"
            )
            if plan.columns[name].publish:
                notes.append(f"the table has no column {name!r}: {counted}")
            else:
                notes.append(
                    f"the table has no column {name!r}, which the plan does not publish: "
                    f"{counted}; people were counted when the release was made"
                )
        elif records := _without(frame, plan, name):
            notes.append(
                f"{records} no {name!r}: each counts as one {kind}, which overstates k if "
                f"several of them belong to the same {kind}"
            )
    apart = household_apart(plan.columns)
    if apart in frame.names and (records := _without(frame, plan, str(apart))):
        notes.append(
            f"{records} no {apart!r}: each counts as a household of its own, which overstates k of "
            "household-k-anonymity if several of them belong to the same household"
        )
    return notes


def _without(frame: Frame, plan: Plan, name: str) -> str:
    """How many records lack a number of a person or household, in words; "" if none does."""
    nobody = coded(frame, name, plan.missing_of(name))[0] < 0
    lacking = int((nobody if frame.weight is None else frame.weight[nobody]).sum())
    return "1 record has" if lacking == 1 else f"{lacking:,} records have" if lacking else ""


def population_not_estimated(plan: Plan, sample: SampleRisks | None) -> list[str]:
    """Report that the plan states a population, and nothing was estimated for it."""
    if sample is not None:
        return []
    if not plan.population:
        if plan.population.missing == "value":
            return []
        return [
            f"missing = {plan.population.missing!r} under [population] has no effect: risks in the "
            "population are not estimated, as there are neither weights nor a size or a fraction "
            "under [population]"
        ]
    return [
        "risks in the population ([population]) were not estimated: the records are counted "
        "outside of memory; use engine = 'memory' to have them"
    ]


def without_weights(names: Sequence[str], plan: Plan) -> list[str]:
    """Report that a table lacks the weights of its plan, and what would stand in for them."""
    lacking = [name for name in columns_with_role(plan.columns, "weight") if name not in names]
    if not lacking or plan.population:
        return []
    hidden = "" if plan.columns[lacking[0]].publish else ", which the plan does not publish"
    return [
        f"the table has no column {lacking[0]!r}{hidden}: without weights "
        "risks in the population are not estimated, and losses are not weighted; state size or "
        "fraction under [population] to have these risks, for records that stand for the same "
        "number of people each"
    ]


def fewer_columns(most: int, columns: int) -> list[str]:
    """Report that special uniques were looked for on fewer columns than asked for."""
    if most <= columns:
        return []
    return [
        f"special uniques were looked for on up to {columns} columns, not {most}: the table has no "
        "more quasi-identifiers, and scores are by these"
    ]


def population_incomplete(plan: Plan) -> list[str]:
    """Report that the table of the population may lack people of the table."""
    if not plan.population.incomplete:
        return []
    return [
        "the table of the population may lack people of the table (incomplete = true): where it "
        "has fewer people with the same values, those of the table count as the population, which "
        "overstates risks"
    ]


def populations_differ(people: int, sample: SampleRisks | None) -> list[str]:
    """Report that the table of the population and the estimates are about other populations."""
    if sample is None or max(people, sample.population) <= OTHER * min(people, sample.population):
        return []
    return [
        f"the table of the population has {people:,} people, and by "
        f"{'the weights' if sample.basis == 'weights' else f'the {sample.basis} of [population]'} "
        f"there are {number(round(sample.population))}: risks that are measured in that table and "
        "risks that are estimated are about different populations"
    ]


def population_not_read(plan: Plan) -> list[str]:
    """Report that the plan names a table of the population, and nothing needs it."""
    if plan.population.data is None or plan.against_population:
        return []
    return [
        "the table of the population ([population] data) was not read, as no requirement counts "
        "its people: k-map without sampling_fraction, delta-presence and audits against a "
        "population read it"
    ]


def merged_values(published: Published) -> list[str]:
    """Report sensitive values that were counted as one value."""
    return [merged_note(one.name, one.spellings) for one in published.sensitive if one.spellings]


def persons_not_published(plan: Plan, keep_order: bool) -> list[str]:
    """Report that the release has no person numbers, and what may still reveal them."""
    notes = []
    for name in linking_columns(plan.columns):
        if not plan.columns[name].publish:
            notes.append(
                f"the person numbers ({name!r}) are not in the release: people were counted and "
                "every requirement was verified with them before they were dropped"
            )
            if keep_order:
                notes.append(
                    "the records are in the order of the original: if the records of a person were "
                    "adjacent there, they still are, which reveals whose they are as a person "
                    "number would"
                )
    return notes


def microaggregated(plan: Plan) -> list[str]:
    """How numbers of classes are published."""
    names = microaggregated_columns(plan.columns)
    return [microaggregation.words_for(name, plan.columns[name]) for name in names]


def numbers_not_covering(plan: Plan) -> list[str]:
    """What cannot be measured of numbers of classes, if the run that made them is not known."""
    names = microaggregated_columns(plan.columns)
    if not names:
        return []
    return [
        f"the numbers of {preview(names)} do not state what they cover: losses count them as "
        "suppressed, and the loss of the run was lower"
    ]


def weighted_losses(plan: Plan) -> list[str]:
    """Report that the losses are weighted by the importance of the columns."""
    names = columns_with_role(plan.columns, "quasi")
    quasi = {name: plan.columns[name].importance for name in names}
    if len(set(quasi.values())) < 2:
        return []
    said = [f"{name!r} {number(times)}" for name, times in quasi.items()]
    more = f" and {len(said) - SHOWN} more" if len(said) > SHOWN else ""
    return [
        "every loss, and the lower bound on it, is weighted by the importance that the plan gives "
        f"the columns: {', '.join(said[:SHOWN])}{more}"
    ]


def at_most_without_effect(plan: Plan, table: Table) -> list[str]:
    """Report limits that every value of the hierarchy complies with."""
    tops = dict(zip(table.names, table.tops or [None] * len(table.names), strict=True))
    return [
        f"at_most = {at_most} of {name!r} has no effect: it allows every value of its hierarchy"
        for name, at_most in limited_columns(plan.columns).items()
        if tops[name] is None
    ]


def numbers_as_text(frame: Frame, plan: Plan) -> list[str]:
    """Report columns that types = "infer" leaves as text though they look like numbers."""
    found = kept_as_text(frame, plan.columns, plan.missing_values, plan.write)
    return [
        f"column {name!r} stays text with types = 'infer' of [write]: {why}"
        for name, why in found.items()
    ]


def in_parts(parts: int) -> list[str]:
    """Report that a table was recoded part by part."""
    if parts == 1:
        return []
    return [
        f"the table was cut into {parts} parts, each of which was recoded by itself; with "
        "parts = 1 in the plan it is recoded as a whole, which may lose slightly less and takes "
        "more time or memory"
    ]


def unpublished_columns(columns: Sequence[str], plan: Plan) -> list[str]:
    """Warn of columns that should not be in a published table."""
    notes = []
    names = [name for name in columns_with_role(plan.columns, "identifier") if name in columns]
    if names:
        notes.append(
            f"the table contains the identifiers {preview(names)}, which the plan does not publish"
        )
    names = [name for name in columns_with_role(plan.columns, "drop") if name in columns]
    if names:
        notes.append(f"the table contains the columns {preview(names)}, which the plan drops")
    for name in linking_columns(plan.columns):
        if name in columns and not plan.columns[name].publish:
            notes.append(f"the table contains {name!r}, which the plan does not publish")
    return notes


def differences(release: Frame, original: Frame, plan: Plan) -> list[str]:
    """Report other differences between a release and its original."""
    missing = _records(original) - _records(release)
    if missing:
        return [f"{missing:,} records of the original are not in the release; they count as lost"]
    notes = []
    for name in [
        *columns_with_role(plan.columns, "sensitive"),
        *other_columns(plan.columns),
    ]:
        if name in release.names and name in original.names:
            now, before = (
                _amounts(table, name, plan.missing_of(name)) for table in (release, original)
            )
            if now != before:
                notes.append(f"column {name!r} has other values than in the original")
    return notes


def _amounts(frame: Frame, name: str, missing_values: Sequence[str]) -> dict[str, int]:
    """How often each value of a column occurs, regardless of its type and the order of records."""
    codes, values = coded_as_text(frame, name, missing_values)
    counts = np.bincount(codes + 1, frame.weight, len(values) + 1)
    amounts: dict[str, int] = {}
    for value, count in zip(["", *(plain(text(v)) for v in values)], counts, strict=True):
        amounts[value] = amounts.get(value, 0) + int(count)
    return {value: count for value, count in amounts.items() if count}


def _records(frame: Frame) -> int:
    """The number of records, if rows of the frame may stand for several."""
    return frame.height if frame.weight is None else int(frame.weight.sum())
