"""Risks: the probability that a record is re-identified."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import numpy as np

from shoal.base.arrays import Floats, Ints, Longs
from shoal.base.errors import BadTable, did_you_mean, preview
from shoal.hierarchies.values import text
from shoal.kernels.group import group_rows
from shoal.table.encode import Table
from shoal.table.equivalence_classes import of_people
from shoal.table.match_graph import MatchGraph
from shoal.table.population.class_sets import ClassSets
from shoal.table.population.lacking import check_holds, values_shown
from shoal.table.population.population import Population
from shoal.table.population.reader import Reader
from shoal.table.published_table import Published, places

# What to do about a population that lacks people of the table.
INCOMPLETE = (
    "; or set incomplete = true under [population] to count the people of the table as people of "
    "the population where it has fewer"
)


@dataclass(frozen=True)
class Risks:
    """Re-identification risks, from 0 to 1.

    A record in a class of 5 people has a risk of 1/5. Averages are over records, not over classes:
    most classes are small, but most records are not in small classes. If the table has a person
    column, there are averages over people too, as a person with many records counts many times
    in an average over records.

    Three attackers (El Emam and Dankar 2008, 2010). The *prosecutor* looks for one person who is
    known to be in the table. The *journalist* does not know who is in the table and matches a
    record with a whole population; without a table of the population there is no number. The
    *marketer* links every record to a person and counts the correct links: to people of the
    population if there is one, otherwise to people of the table, where it equals the average.
    """

    prosecutor: float  # the highest risk of any record, among the people of the table
    average: float  # the mean risk over records, among the people of the table
    unique: float  # the share of records that are alone in their class
    marketer: float  # the share of records linked correctly if all are linked at once
    journalist: float | None = None  # the highest risk of any record, among the population
    # The same over people; None: the table has no person column.
    average_over_people: float | None = None  # the mean risk over people
    unique_people: float | None = None  # the share of people who are unique
    marketer_over_people: float | None = None  # the share of people linked correctly

    @property
    def mean(self) -> float:
        """The mean risk over people, as limits judge it; without a person column, over records."""
        return self.average if self.average_over_people is None else self.average_over_people

    def as_dict(self) -> dict[str, float | None]:
        """The risks by name; those over people only if the table has a person column."""
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
    """The risks in a table; with a `linkage`, for an attacker who knows all originals.

    `population` is a table of all people who could be in this one, including those who are. As a
    Published it is generalized in the same way; as a Table it has original values, encoded with
    the hierarchies of the plan.
    """
    candidates = published.classes.candidates if linkage is None else linkage.candidates
    weight = published.weight if linkage is None else None
    average = _mean_risk(candidates, weight)
    marketer, journalist = average, None
    each: Longs | None = None  # int64[people]
    if linkage is None and published.people is not None:
        each = of_people(candidates, published.people)
    often = published.person_weight  # int64[people], how many people each stands for
    average_people = None if each is None else _mean_risk(each, often)
    marketer_people = average_people
    if population is not None:
        outside = people_outside(published, population)  # int64[n]
        marketer, journalist = _mean_risk(outside, weight), 1.0 / int(outside.min())
        if each is not None and published.people is not None:
            marketer_people = _mean_risk(of_people(outside, published.people), often)
    return Risks(
        prosecutor=1.0 / int(candidates.min()),
        average=average,
        unique=float(np.average(candidates == 1, weights=weight)),
        marketer=marketer,
        journalist=journalist,
        average_over_people=average_people,
        unique_people=(None if each is None else float(np.average(each == 1, weights=often))),
        marketer_over_people=marketer_people,
    )


def record_risks(published: Published, population: Published | Table | None = None) -> Floats:
    """The risk of each record, float64[n]: the prosecutor's, or the journalist's."""
    if population is None:
        return 1.0 / published.classes.candidates
    return 1.0 / people_outside(published, population)


def people_outside(published: Published, population: Published | Table) -> Longs:
    """The people of the population who could be the person of each record, int64[n].

    The records of a person are linked. If the people of the population have several records too,
    somebody is a candidate if each of these fits a record of the person, and each record of the
    person fits one of these. If they have one record each, the rarest record counts.
    """
    known = _Known.of(published, population)
    if published.people is None:
        return known.of_classes()[published.classes.label]
    sets = ClassSets.of(published.people, published.classes.label, published.person_weight)
    people = known.of_sets(sets) if known.several else known.rarest(sets)
    return people[sets.of_person][published.people]


def _mean_risk(candidates: Longs, weight: Longs | None = None) -> float:
    """The mean of 1 / candidates, summed in an order that is independent of that of records."""
    if candidates.max() <= len(candidates):  # sorting takes longer
        records = np.bincount(candidates, weight)  # by number of candidates
        size = np.flatnonzero(records)
        records = records[size]
    else:
        size, place = np.unique(candidates, return_inverse=True)
        records = np.bincount(place, weight)
    return float((records / size).sum() / records.sum())


@dataclass(frozen=True, eq=False)
class _Known:
    """A population in which the people of a published table are counted."""

    published: Published
    population: Published | Table
    several: bool  # whether people of the population have several records
    incomplete: bool  # whether it may lack people of the table, who count as there

    @staticmethod
    def of(published: Published, population: Published | Table) -> _Known:
        lacking = [name for name in published.names if name not in population.names]
        if lacking:
            raise BadTable(
                f"the population lacks the quasi-identifiers {preview(lacking)} of the table"
                f"{did_you_mean(lacking[0], population.names)}"
            )
        known = published.population
        incomplete = known is not None and known.table is population and known.incomplete
        if isinstance(population, Table) and not incomplete:
            published.vectors(population, "population", INCOMPLETE)  # it knows all published values
        several = population.people is not None and population.person_count < population.rows
        return _Known(published, population, several, incomplete)

    def of_classes(self) -> Longs:
        """People of the population whom each class covers, int64[classes].

        Each class counts by itself: if nothing links its records to others, one record of a person
        of the population is enough.
        """
        classes, population = self.published.classes, self.population
        if isinstance(population, Table):
            people = enough = self._reader(population).people(self._vectors)
            if self.published.people is None and self.several and not self.incomplete:
                # The release counts records, as its person numbers may have been dropped.
                enough = self._reader(replace(population, people=None)).people(self._vectors)
        else:
            people = enough = self._alike(population)
        return self._checked(people, classes.people, np.arange(len(classes)), enough)

    def rarest(self, sets: ClassSets) -> Longs:
        """People of the population whom the rarest class of each set covers, int64[sets]."""
        fewest: Longs = np.minimum.reduceat(self.of_classes()[sets.member], sets.start[:-1])
        return fewest

    def of_sets(self, sets: ClassSets) -> Longs:
        """People of the population who could have the records of each set of classes."""
        if isinstance(self.population, Published):
            return self._with_these_classes(self.population, sets)
        reader, one = self._reader(self.population), sets.size == 1
        people = np.zeros(len(one), np.int64)
        people[one] = reader.people(self._vectors[sets.member[sets.start[:-1][one]]])
        member = sets.member[np.repeat(~one, sets.size)]
        start = np.append(0, np.cumsum(sets.size[~one]))
        people[~one] = reader.fitting(self._vectors, start, member)
        return self._checked(people, sets.people, sets.member[sets.start[:-1]], people)

    @property
    def _vectors(self) -> Ints:
        """The published values of each class, int32[classes, q]."""
        return self.published.codes[self.published.classes.first]

    def _reader(self, population: Table) -> Reader:
        known = self.published.population
        if known is None or known.table is not population:
            known = Population(population)
        linked = self.published.people is not None
        return known.reader(self.published.names, self.published.values, linked)

    def _checked(self, people: Longs, own: Longs, of_class: Longs, enough: Longs) -> Longs:
        """The people of the population, if there are `enough`; those of the table are people too.

        `of_class` has a class of each group.
        """
        if self.incomplete:
            return np.maximum(people, own)

        def shown(group: int) -> str:
            codes = self._vectors[of_class[group]]
            both = zip(self.published.values, codes, strict=True)
            labels = [None if code < 0 else text(known[code]) for known, code in both]
            return values_shown(self.published.names, labels)

        check_holds(own, enough, shown, self.several)
        return people

    def _joint_labels(self, population: Published) -> tuple[Longs, Longs]:
        """Numbers of the published values of each class of both tables: equal if these are."""
        mine = self._vectors
        theirs = np.empty((len(population.classes), mine.shape[1]), np.int32)
        for j, name in enumerate(self.published.names):
            i = population.names.index(name)
            same = {text(value): code for code, value in enumerate(self.published.values[j])}
            # -1 is missing, and -2 a value that the table lacks
            code = [*places(population.values[i], same, -2), -1]
            theirs[:, j] = np.array(code, np.int32)[population.codes[population.classes.first, i]]
        label, _, _ = group_rows(np.concatenate([mine, theirs]))
        return label[: len(mine)], label[len(mine) :]

    def _alike(self, population: Published) -> Longs:
        """For each class the people of the population with the same published values."""
        mine, theirs = self._joint_labels(population)
        many = int(max(mine.max(), theirs.max())) + 1
        return np.bincount(theirs, population.classes.people, many).astype(np.int64)[mine]

    def _with_these_classes(self, population: Published, sets: ClassSets) -> Longs:
        """For each set the people of the population with the same published values, and no more."""
        mine, theirs = self._joint_labels(population)
        assert self.published.people is not None
        assert population.people is not None
        size = int(self.published.people.max()) + 1
        both = ClassSets.of(
            np.append(self.published.people, size + population.people),
            np.append(mine[self.published.classes.label], theirs[population.classes.label]),
        )
        count = np.bincount(both.of_person[size:], population.person_weight, len(both.people))
        people = np.zeros(len(sets.people), np.int64)
        people[sets.of_person] = count[both.of_person[:size]].astype(np.int64)
        return self._checked(people, sets.people, sets.member[sets.start[:-1]], people)
