"""The naive twin of dependency: on lists of records, straight from the definition.

A record is a `Record`. `Table.columns` are the columns that are published unchanged. All counts are
of people.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb, floor, log, log2

EXPECTED = 5  # people that a test needs by chance
WRONG = 0.5  # share of what is expected by chance from which on an attacker is often wrong


@dataclass
class Record:
    """One published record; the person stands for `weight` people like this one."""

    exact: tuple  # per quasi-identifier its value where it is published exactly, otherwise None
    classed: tuple  # what is published of all quasi-identifiers
    truth: tuple  # per quasi-identifier the set of exact values that the true one may be
    values: dict  # of the columns that are published unchanged
    person: object
    weight: int = 1
    inside: tuple = ()  # per quasi-identifier the exact values that the published one covers


def find(rows, values):
    """For the laws: tables without columns that are published unchanged were not measured."""
    return {"people_below": None, "percent": None}


# What goes with what


def tables_of(records, columns, j, counted):
    """How often a value of some columns and a value of a quasi-identifier occur together.

    Of a release "classes" are counted, as its records are alike by design, or "people"; in an
    "original", people.
    """
    units = {}
    for one in records:
        if counted == "original" and len(one.truth[j]) == 1:
            (x,) = one.truth[j]
            units[valued(one, columns), x, one.person] = one.weight
        elif counted == "classes" and one.exact[j] is not None:
            units[valued(one, columns), one.exact[j], one.classed] = 1
        elif counted == "people" and one.exact[j] is not None:
            units[valued(one, columns), one.exact[j], one.person] = one.weight
    size, cells = {}, {}
    for (v, x, _), many in units.items():
        size[x] = size.get(x, 0) + many
        cells.setdefault(v, {}).setdefault(x, 0)
        cells[v][x] += many
    return size, cells


def valued(one, columns):
    return tuple(one.values[c] for c in columns)


def band(number):
    return floor(log2(number))


def strata(size, cells):
    """Units whose value nobody else shows, and how many that would be by chance, by bands."""
    total, found = sum(size.values()), {}
    for counts in cells.values():
        units = sum(counts.values())
        if units > 1:
            single, expected = found.get(band(units), (0, 0.0))
            single += sum(many == 1 for many in counts.values())
            for people in size.values():
                share = people / total
                expected += units * share * (1 - share) ** (units - 1)
            found[band(units)] = single, expected
    return found


def surprise(size, counts, rare):
    """How unlikely it is that so many units show so few values, as a logarithm."""
    units, total = sum(counts.values()), sum(size.values())
    share = sum(size[x] for x in counts) / total
    single = sum(many == 1 for many in counts.values())
    if units < 2 or share == 1 or single > rare * units * (1 - share) + 1e-9:
        return 0
    ways = comb(len(size), len(counts)) * min(units, len(size))
    return -units * log(share) - log(ways)


def expected_cells(size, cells):
    """The pairs of values that enough people have by chance, and how many that are."""
    total = sum(size.values())
    for v, counts in cells.items():
        for x, people in size.items():
            expected = sum(counts.values()) * people / total
            if expected >= EXPECTED - 1e-9:
                yield v, x, expected


def learn(tables, rare, chance, least=0):
    """Per relation, what each value of its columns says: ("only", values) or ("not", values).

    `tables` has the sizes and cells of all relations that are tested together.
    """
    tests = 0
    for size, cells in tables:
        tests += sum(e >= EXPECTED - 1e-9 for _, e in strata(size, cells).values())
        tests += len(list(expected_cells(size, cells)))
        tests += sum(sum(counts.values()) > 1 for counts in cells.values())
    needed = log(max(tests, 1) / chance)
    # How fast the chance of a test falls with the expected number, at most as for 0.05.
    single = min(0.8, rare * log(rare) - rare + 1)
    pooled = 0.5 / 0.8 * single
    found = []
    for size, cells in tables:
        trusted = {
            key
            for key, (single, expected) in strata(size, cells).items()
            if expected >= max(EXPECTED, needed / pooled) - 1e-9
            and single <= rare * expected + 1e-9
        }
        out = {}
        for v, x, expected in expected_cells(size, cells):
            if expected >= needed / single - 1e-9 and cells[v].get(x, 0) <= rare * expected + 1e-9:
                out.setdefault(v, set()).add(x)
        says = {}
        for v, counts in cells.items():
            people = sum(counts.values())
            if people < least:
                continue
            sure = band(max(people, 2)) in trusted and len(counts) < len(size)
            if sure or surprise(size, counts, rare) >= needed - 1e-9:
                says[v] = "only", set(counts) - out.get(v, set())
            elif v in out:
                says[v] = "not", out[v]
        found.append((says, any(kind == "only" for kind, _ in says.values())))
    return found


def relations(records, columns, quasi, rare, chance, counted, least=0, pairs=True):
    """All relations: (columns, quasi-identifier) → what each value says."""

    def tables(key):
        return tables_of(records, *key, counted)

    several = [c for c in columns if len({one.values[c] for one in records}) > 1]
    single = [((c,), j) for c in several for j in range(quasi)]
    made = learn([tables(key) for key in single], rare, chance, least)
    found = {key: says for key, (says, _) in zip(single, made, strict=True)}
    told = {key for key, (_, trusted) in zip(single, made, strict=True) if trusted}
    if pairs:
        double = [
            (pair, j)
            for pair in combinations(several, 2)
            for j in range(quasi)
            if not any(((c,), j) in told for c in pair)
        ]
        made = learn([tables(key) for key in double], rare, chance, least)
        found |= {key: says for key, (says, _) in zip(double, made, strict=True)}
    return {key: says for key, says in found.items() if says}


# Who is left


def allows(said, values):
    """Whether a value of a column goes with one of these values of a quasi-identifier."""
    if said is None:
        return True
    kind, known = said
    return bool(known & values) if kind == "only" else not (len(values) == 1 and values <= known)


def narrowed(said, inside):
    """The values that remain possible of those that are covered; None: one never published."""
    covered = {*inside, None}
    if said is None:
        return covered
    kind, known = said
    return covered & known if kind == "only" else covered - known


def general(record, j):
    return record.exact[j] is None


def fits(record, target, learned, original):
    """Whether a record could be the one of the target, who is in the same class."""
    for (columns, j), says in learned.items():
        if not general(record, j):
            continue
        said = says.get(valued(record, columns))
        if original:
            if not allows(said, target.truth[j]):
                return False
        else:
            own = narrowed(says.get(valued(target, columns)), target.inside[j])
            if not own or not own <= narrowed(said, record.inside[j]):
                return False
    return True


def crowds(records, learned, original=True):
    """For every person, how many people are left, and whether the person is one of them."""
    of_person, of_class = {}, {}
    for one in records:
        of_person.setdefault(one.person, []).append(one)
        of_class.setdefault(one.classed, set()).add(one.person)

    def left(target):
        own = of_person[target]
        return {
            who
            for who in of_class[own[0].classed]  # all others lack a record of this class
            if all(
                any(one.classed == record.classed and fits(one, record, learned, original)
                    for one in of_person[who])
                for record in own
            )
        }  # fmt: skip

    weight = {who: own[0].weight for who, own in of_person.items()}
    found = {}
    for who in of_person:
        rest = left(who)
        found[who] = sum(weight[one] for one in rest), who in rest
    return found, weight


def right(records, learned, k):
    """The relations by which people are not missed about as often as by chance."""
    before, _ = crowds(records, {})
    kept = {}
    for key, says in learned.items():
        found, weight = crowds(records, {key: says})
        few = {who: one for who, one in found.items() if one[0] < k <= before[who][0]}
        missed = sum(weight[who] for who, (_, own) in few.items() if not own)
        chance = sum(weight[who] * (1 - many / before[who][0]) for who, (many, _) in few.items())
        if missed <= WRONG * chance + 1e-9:
            kept[key] = says
    return kept


def below(records, learned, k, original=True):
    """The people who were among k people or more, and are among fewer: their crowds."""
    found, weight = crowds(records, learned, original)
    before, _ = crowds(records, {}, original)
    return {
        who: many for who, (many, own) in found.items() if own and many < k <= before[who][0]
    }, weight


def attack(records, columns, quasi, k, rare, chance, original=True, pairs=True):
    """What the attack finds: people below k per column, per pair, together, and in any way."""
    learned = relations(records, columns, quasi, rare, chance, "classes", pairs=pairs)
    if original:
        learned = right(records, learned, k)
        each = relations(records, columns, quasi, rare, chance, "people", pairs=False)
        for key, says in right(records, each, k).items():
            if len(says) > len(learned.get(key, {})):
                learned[key] = says
    return found_by(records, columns, learned, k, original)


def attack_if_known(records, columns, quasi, k, rare, chance):
    """The same for an attacker who knows what the original shows of values that k people have.

    The truth of a record is the set of all values of the original that its own one may be.
    """
    learned = relations(records, columns, quasi, rare, chance, "original", least=k, pairs=False)
    return found_by(records, columns, learned, k)


def found_by(records, columns, learned, k, original=True):
    """Whom each column brings below k, each pair, and all of them."""
    ways = {(c,): {key: says for key, says in learned.items() if key[0] == (c,)} for c in columns}
    for pair in dict.fromkeys(key[0] for key in learned if len(key[0]) == 2):
        ways[pair] = {key: says for key, says in learned.items() if set(key[0]) <= set(pair)}
    ways["together"] = learned
    found, everybody = {}, {}
    for name, some in ways.items():
        hit, weight = below(records, some, k, original)
        found[name] = sum(weight[who] for who in hit)
        for who, many in hit.items():
            everybody[who] = min(many, everybody.get(who, k))
    found["people_below"] = sum(weight[who] for who in everybody)
    found["alone"] = sum(weight[who] for who, many in everybody.items() if many == 1)
    found["fewest_left"] = min(everybody.values(), default=k)
    return found
