"""Risks: how likely it is that a record is found to belong to somebody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np

from shoal.base.arrays import Floats, Ints, Longs
from shoal.base.errors import BadTable, did_you_mean, preview
from shoal.hierarchies.free_values import Covers
from shoal.hierarchies.values import text
from shoal.kernels.group import group_rows
from shoal.table.covering import covering, ranges
from shoal.table.encode import Table
from shoal.table.equivalence_classes import Classes
from shoal.table.match_graph import MatchGraph, telling_first
from shoal.table.published_table import Published, of_people, places


@dataclass(frozen=True)
class Risks:
    """Chances of re-identification, from 0 to 1.

    A record in a class of 5 people is found with a chance of 1/5. Averages are taken over
    records, not over classes: most classes are small, most records are not in them. Where the
    table tells whose each record is, they are taken over people too: who has many records stands
    in many averages over records, and is no more often a person.

    Three attackers (El Emam and Dankar 2008, 2010). The *prosecutor* looks for one person of
    whom he knows that the table holds her. The *journalist* does not know who is in the table,
    and matches a record with everybody in a population: without a population table nobody can
    say how large that crowd is, so there is no number. The *marketer* links every record to
    somebody and asks how many links are right: to people of the population where there is one,
    to people of the table otherwise, and then the number is the average.
    """

    prosecutor: float  # the highest chance of any record, among the people of the table
    average: float  # the mean chance over records, among the people of the table
    unique: float  # the share of records that are alone in their class
    marketer: float  # the share of records that would be re-identified, all linked at once
    journalist: float | None = None  # the highest chance of any record, among the population
    # The same over people; None where the table does not tell whose each record is.
    average_over_people: float | None = None  # the mean chance over people
    unique_people: float | None = None  # the share of people whom nobody else looks like
    marketer_over_people: float | None = None  # the share of people who would be re-identified

    def as_dict(self) -> dict[str, float | None]:
        """The chances by name; those over people only where there are some."""
        return {
            name: chance
            for name, chance in asdict(self).items()
            if chance is not None or not name.endswith("people")
        }


def risks(
    published: Published,
    population: Published | Table | None = None,
    linkage: MatchGraph | None = None,
) -> Risks:
    """The chances in a table, or for somebody who knows all originals if there is a `linkage`.

    `population` is a table of everybody who could be in this one, and of at least those who are:
    as a Published it has been generalized in the same way, as a Table it holds original values,
    encoded with the hierarchies of the plan.
    """
    candidates = published.classes.candidates if linkage is None else linkage.candidates
    average = _mean_chance(candidates)
    marketer, journalist = average, None
    each: Longs | None = None  # int64[people]
    if linkage is None and published.people is not None:
        each = of_people(candidates, published.people)
    average_people = None if each is None else _mean_chance(each)
    marketer_people = average_people
    if population is not None:
        outside = _outside(published, population)  # int64[n]
        marketer, journalist = _mean_chance(outside), 1.0 / int(outside.min())
        if each is not None and published.people is not None:
            marketer_people = _mean_chance(of_people(outside, published.people))
    return Risks(
        prosecutor=1.0 / int(candidates.min()),
        average=average,
        unique=float(np.mean(candidates == 1)),
        marketer=marketer,
        journalist=journalist,
        average_over_people=average_people,
        unique_people=None if each is None else float(np.mean(each == 1)),
        marketer_over_people=marketer_people,
    )


def record_risks(published: Published, population: Published | Table | None = None) -> Floats:
    """The chance of each record, float64[n]: the prosecutor's, or the journalist's."""
    if population is None:
        return 1.0 / published.classes.candidates
    return 1.0 / _outside(published, population)


def _mean_chance(candidates: Longs) -> float:
    """The mean of 1 / candidates, summed in an order that does not depend on that of the rows."""
    crowd, records = np.unique(candidates, return_counts=True)
    return float((records / crowd).sum() / len(candidates))


def _outside(published: Published, population: Published | Table) -> Longs:
    """For each record the people of the population who could be its person, int64[n]."""
    classes = published.classes
    lacking = [name for name in published.names if name not in population.names]
    if lacking:
        raise BadTable(
            f"the population lacks the quasi-identifiers {preview(lacking)} of the table"
            f"{did_you_mean(lacking[0], population.names)}"
        )
    if isinstance(population, Table):
        vectors, free = published.vectors(population, "population")
        people = covered(vectors, _with_columns(population, published), free)
    else:
        people = _alike(published, population)
    _check_holds(published, classes, people)
    found = people[classes.label]  # int64[n]
    if published.people is not None:
        # The rows of a person are linked: whoever fits the person fits the rarest of them.
        fewest = np.full(published.crowd, np.iinfo(np.int64).max)
        np.minimum.at(fewest, published.people, found)
        found = fewest[published.people]
    return found


def _check_holds(published: Published, classes: Classes, people: Longs) -> None:
    """Complain of a population that lacks people of the table."""
    short = np.flatnonzero(people < classes.people)
    if not len(short):
        return
    worst = short[np.argmin(people[short])]
    values = ", ".join(
        f"{name}={'missing' if code < 0 else text(known[code])!r}"
        for name, known, code in zip(
            published.names, published.values, published.codes[classes.first[worst]], strict=True
        )
    )
    raise BadTable(
        f"the population does not hold the people of the table: {classes.people[worst]} of the "
        f"table have {values}, but {people[worst]} of the population ({len(short)} of "
        f"{len(classes)} classes fall short); give a population that holds everybody in the "
        "table, with original values, or generalized in the same way"
    )


def _alike(published: Published, population: Published) -> Longs:
    """For each class the people of the population with the same published values."""
    mine = published.codes[published.classes.first]  # int32[classes, q]
    theirs = np.empty((len(population.classes), mine.shape[1]), np.int32)
    for j, name in enumerate(published.names):
        i = population.names.index(name)
        same = {text(value): code for code, value in enumerate(published.values[j])}
        code = [*places(population.values[i], same, -2), -1]  # -2: a value that the table lacks
        theirs[:, j] = np.array(code, np.int32)[population.codes[population.classes.first, i]]
    label, _, _ = group_rows(np.concatenate([mine, theirs]))
    people = np.bincount(label[len(mine) :], population.classes.people, len(mine))
    return people[: len(mine)].astype(np.int64)


def _with_columns(population: Table, published: Published) -> Table:
    """The population with the columns of the table, in their order."""
    at = [population.names.index(name) for name in published.names]
    return Table(
        published.names,
        tuple(population.trees[i] for i in at),
        np.ascontiguousarray(population.codes[:, at]),
        population.people,
        tuple(population.exact[i] for i in at),
    )


def covered(vectors: Ints, population: Table, free: Sequence[Covers] = ()) -> Longs:
    """How many people of a population each vector of published values covers, int64[vectors].

    `vectors` is int32[vectors, q], nodes of the population's trees, or what `free` says codes past
    them are. Vectors may cover the same people.
    """
    if not len(vectors):
        return np.zeros(0, np.int64)
    asked, first, _ = group_rows(np.ascontiguousarray(vectors, np.int32))
    wide = vectors[first]
    label, first, _ = group_rows(np.ascontiguousarray(population.codes, np.int32))
    narrow = population.codes[first]

    covers = list(free) or [Covers(tree) for tree in population.trees]
    order = telling_first(wide, population, covers)
    crowd = _Crowd.of(label, population.people, len(narrow))
    count = np.zeros(len(wide), np.int64)
    several: list[Longs] = []
    for people, vector in covering(wide, narrow, covers, order):
        count += np.bincount(vector, crowd.alone[people], len(wide)).astype(np.int64)
        several.append(crowd.pairs(people, vector))
    if several:
        pairs = np.unique(np.concatenate(several))
        count += np.bincount(pairs // crowd.size, minlength=len(wide))
    each: Longs = count[asked]
    return each


class _Crowd(NamedTuple):
    """Who has which of the distinct rows; people with different rows must count once."""

    alone: Longs  # int64[rows], people who have this row only
    start: Longs  # int64[rows + 1]
    who: Longs  # people who have other rows too: row r has who[start[r]:start[r + 1]]
    size: int  # one more than the highest number of a person

    @staticmethod
    def of(row: Longs, people: Longs | None, rows: int) -> _Crowd:
        if people is None:
            none = np.zeros(0, np.int64)
            return _Crowd(np.bincount(row, minlength=rows), np.zeros(rows + 1, np.int64), none, 1)
        size = int(people.max()) + 1
        pair = np.unique(row * size + people)
        row, people = pair // size, pair % size
        one = np.bincount(people)[people] == 1
        start = np.append(0, np.cumsum(np.bincount(row[~one], minlength=rows)))
        return _Crowd(np.bincount(row[one], minlength=rows), start, people[~one], size)

    def pairs(self, row: Longs, vector: Longs) -> Longs:
        """Vectors with each of these people that they cover, as vector * size + person."""
        low, high = self.start[row], self.start[row + 1]
        pairs = np.repeat(vector, high - low) * self.size + self.who[ranges(low, high)]
        return np.unique(pairs)
