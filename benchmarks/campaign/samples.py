"""Samples of a population: models, weights, households, coded numbers and anatomy.

Each case writes a table, mostly a sample of a population in another file, and counts again from the
written text whom the published values cover, what the risks are, and which numbers may be there.
"""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from math import exp, floor, inf, isclose, lgamma, log

import numpy as np

from benchmarks.campaign.exact import FREE, anatomy, means, read, write
from benchmarks.campaign.texts import plan_text, toml
from benchmarks.campaign.trial import Trial

JOBS = ["cook", "nurse", "clerk", "smith", "pilot", "judge"]
OTHERS = ("peel", "full-domain", "forest", "sequential")
NODES, WORTH = np.polynomial.legendre.leggauss(400)


def run(trial: Trial) -> None:
    """Anonymize a random sample, or now and then publish two tables of it."""
    drawn = trial.rng.random()
    if drawn < 0.2:
        anatomy(trial)
    elif drawn < 0.4:
        means(trial)
    else:
        _Case(trial).run()


class _Case:
    """A population, a sample of it, and a plan."""

    def __init__(self, trial: Trial) -> None:
        self.trial, rng = trial, trial.rng
        self.ages = rng.choice([5, 20, 60])
        self.everybody = [self._person() for _ in range(rng.choice([15, 60, 200]))]
        many = rng.randint(3, max(3, len(self.everybody) // rng.choice([1, 2, 4])))
        self.people = [list(one) for one in rng.sample(self.everybody, many)]
        self.incomplete = rng.random() < 0.3
        if self.incomplete:
            self.people += [[rng.randint(15, 90), "diver", rng.choice("fm")] for _ in range(2)]
        self.weights = [round(rng.uniform(1, 60), 3) for _ in self.people]
        # Members of a household share their weight: it is that of the household.
        self.homes = sorted(rng.randrange(1, len(self.people)) for _ in self.people)
        self.incomes = [rng.randint(-5_000, 90_000) for _ in self.people]
        self.weighted, self.housed = rng.random() < 0.5, rng.random() < 0.4
        self.apart = self.housed and rng.random() < 0.5  # each member by itself
        self.derive, self.adult = "", rng.choice([18, 25, 40])
        if self.housed and not self.apart and rng.random() < 0.7:
            self.derive = rng.choice(["household-size", "household-composition"])
            sizes = [rng.randint(1, 2) for _ in self.people]  # rare sizes could not be published
            homes = [home for home, size in enumerate(sizes) for _ in range(size)]
            self.homes = homes[: len(self.people)]
        self.coding = rng.choice([{}, {"round": 500, "top": 50_000, "bottom": 0}, {"top": 40_000}])
        self.models = self._models()

    def _person(self) -> tuple:
        rng = self.trial.rng
        return rng.randint(20, 20 + self.ages), rng.choice(JOBS), rng.choice("fm")

    def _models(self) -> list[dict]:
        rng, fraction = self.trial.rng, self.trial.rng.choice([0.05, 0.2, 0.6, 1.0])
        estimator = rng.choice(["poisson", "zero-truncated-poisson"])
        pool = [
            {"name": "k-map", "k": rng.randint(2, 5), "sampling_fraction": fraction,
             "estimator": estimator, "significance": rng.choice([0.01, 0.1, 0.5])},
            {"name": "population-uniqueness", "u": rng.choice([0, 0.1, 0.4]),
             "sampling_fraction": fraction},
            {"name": "average-risk", "r": rng.choice([0.2, 0.5])},
            {"name": "strict-average-risk", "r": rng.choice([0.3, 0.5]), "k": 2},
            {"name": "share-at-risk", "share": rng.choice([0, 0.3]), "threshold": 0.4},
        ]  # fmt: skip
        if not self.housed or self.apart:  # whose households the population would have to have
            against = [
                {"name": "k-map", "k": rng.randint(2, 9)},
                {"name": "delta-presence", "high": rng.choice([0.3, 0.5, 0.8])},
            ]
            pool += against * 3
        models = {one["name"]: one for one in rng.sample(pool, rng.choice([1, 2, 2]))}
        if rng.random() < 0.4:
            models["k-anonymity"] = {"name": "k-anonymity", "k": 2}
        if self.apart:
            models["home"] = {"name": "household-k-anonymity", "k": rng.randint(2, 3)}
        if self.derive and rng.random() < 0.7:
            models["home"] = {"name": "household-k-anonymity", "k": 2}
        return list(models.values())

    def plan(self) -> str:
        rng = self.trial.rng
        self.free = free = rng.random() < 0.5
        age = {"free_ranges": True} if free else {"ranges": [5, 10, 20]}
        job = {"hierarchy": {"free_sets": True}} if free and rng.random() < 0.7 else {}
        columns: dict = {
            "age": {"role": "quasi", "hierarchy": age},
            "job": {"role": "quasi", **job},
            "sex": {"role": "quasi"},
            "income": {"role": "sensitive", **self.coding},
        }
        if self.weighted:
            columns["weight"] = {"role": "weight", "publish": False}
        if self.housed:
            columns["home"] = {"role": "household", "publish": rng.random() < 0.5}
        if self.apart:
            columns["home"] = {"role": "household", "publish": False, "together": False}
        if self.derive:
            columns["members"] = {"role": "quasi", "derive": self.derive}
            self.trial.counts[self.derive] += 1
        if self.derive == "household-composition":
            columns["members"] |= {"ages": "age", "adult": self.adult}
        algorithm = rng.choice(FREE if free else FREE + OTHERS)
        plan = {
            "seed": 1, "keep_order": True, "models": self.models, "columns": columns,
            "algorithm": {"name": algorithm},
        }  # fmt: skip
        self.trial.counts[f"algorithm {algorithm}"] += 1
        more = f"population = {toml(self.population)}\n" if self.population else ""
        return more + plan_text(plan)

    @property
    def population(self) -> dict:
        if any(_counts_people(model) for model in self.models):
            return {"data": "people.csv", "incomplete": self.incomplete}
        return {}

    def run(self) -> None:
        folder = self.trial.folder
        head = ["age", "job", "sex", "income", "weight", "home"]
        more = zip(self.incomes, self.weights, self.homes, strict=True)
        rows = [[*one, *rest] for one, rest in zip(self.people, more, strict=True)]
        left = [j for j in range(6) if (j != 4 or self.weighted) and (j != 5 or self.housed)]
        write(folder / "data.csv", [head, *rows], left)
        write(folder / "people.csv", [head[:3], *self.everybody], [0, 1, 2])
        (folder / "plan.toml").write_text(self.plan(), encoding="utf-8")
        words = ["--plan", "plan.toml", "--json"]
        out = ["--out", "release.csv"]
        ran = self.trial.run("anonymize", "data.csv", *words, "numbers.json", *out)
        self.trial.counts[f"exit {ran.code}"] += 1
        # The most general free values are those of the table, which may not cover everybody.
        if ran.code == 1 and not self.free and not self._refused(ran.err):
            whole = [("*", "*", "*", one) for one in self.members()]
            good = all(self._fine(model, whole) for model in self.models)
            self.trial.check(not good, "exit 1, and one class satisfies everything")
        if ran.code:
            self.trial.check(ran.code == 1, f"exit {ran.code}: {ran.err[-300:]}")
            self.trial.check(not (folder / "release.csv").exists(), "written all the same")
            return
        released = read(folder / "release.csv")
        numbers = json.loads((folder / "numbers.json").read_text(encoding="utf-8"))
        shown = ["age", "job", "sex", *["members"] * bool(self.derive)]
        vectors = [tuple(row[name] for name in shown) for row in released]
        self.check_values(released, vectors)
        self.check_models(vectors, numbers["checks"])
        self.check_risks(vectors, numbers["sample"])
        ran = self.trial.run("audit", "release.csv", *words, "audit.json")
        if not self.weighted and not self.housed:  # neither is published
            self.trial.check(ran.code == 0, f"audit: exit {ran.code}: {ran.err[-300:]}")
            audited = json.loads((folder / "audit.json").read_text(encoding="utf-8"))
            same = [one["reached"] for one in numbers["checks"]]
            same = same == [one["reached"] for one in audited["checks"]]
            self.trial.check(same, "audit and anonymize differ")

    def _refused(self, said: str) -> bool:
        """Whether other columns gave too much away, which the attack dependency finds."""
        return "can be read back" in said or "reveal" in said or "candidates" in said

    def check_values(self, released: list[dict], vectors: list[tuple]) -> None:
        if not self.trial.check(len(released) == len(self.people), "records are missing"):
            return
        for one, vector in zip(self.people, vectors, strict=True):
            self.trial.check(_covers(vector, one), f"{vector} does not cover {one}")
        for row, income in zip(released, self.incomes, strict=True):
            ours = _coded(income, self.coding)
            self.trial.check(int(row["income"]) == ours, f"{row['income']} for {income}")
        self.trial.check("weight" not in released[0], "weights are published")
        if self.derive:
            told = [row["members"] for row in released]
            self.trial.check(told == self.members(), f"{told} members, not {self.members()}")
        if self.housed and not self.apart:
            homes: dict = {}
            for home, vector in zip(self.homes, vectors, strict=True):
                homes.setdefault(home, set()).add(vector)
            alike = all(len(found) == 1 for found in homes.values())
            self.trial.check(alike, "members of a household are not published alike")

    def members(self) -> list[str]:
        """The size or the composition of the household of each record, as it is published."""
        if not self.derive:
            return [""] * len(self.people)
        ages: dict = {}
        for home, person in zip(self.homes, self.people, strict=True):
            ages.setdefault(home, []).append(person[0])
        if self.derive == "household-size":
            return [str(len(ages[home])) for home in self.homes]
        told = {}
        for home, own in ages.items():
            adults = sum(age >= self.adult for age in own)
            parts = [f"{adults} adult{'s' if adults > 1 else ''}"] if adults else []
            if young := len(own) - adults:
                parts.append(f"{young} child{'ren' if young > 1 else ''}")
            told[home] = ", ".join(parts)
        return [told[home] for home in self.homes]

    def sizes(self, vectors: list[tuple]) -> dict[tuple, int]:
        """The people, or the households, of each class."""
        units = self.homes if self.housed and not self.apart else range(len(vectors))
        return Counter(vector for vector, _ in {*zip(vectors, units, strict=True)})

    def level(self, model: dict, vectors: list[tuple]) -> float | None:
        """What a model reaches; None: only a bound of it is known here."""
        own = self.sizes(vectors)
        total = sum(own.values())
        match model["name"]:
            case "k-anonymity":
                return min(own.values())
            case "household-k-anonymity" if not self.apart:
                return min(own.values())  # of households
            case "household-k-anonymity":
                each = Counter(zip(vectors, self.homes, strict=True))
                return min(own[vector] / many for (vector, _), many in each.items())
            case "average-risk":
                return len(own) / total
            case "strict-average-risk":
                return len(own) / total if min(own.values()) >= model["k"] else inf
            case "share-at-risk":
                risky = [f for f in own.values() if 1 / f > model["threshold"] * (1 + 1e-9)]
                return sum(risky) / total
            case "population-uniqueness":
                alone = sum(f == 1 for f in own.values()) / total
                return alone if model["sampling_fraction"] == 1 or not alone else None
            case "k-map" if "sampling_fraction" in model:
                return min(_taken_for(f, model) for f in own.values())
        covered = {v: {i for i, p in enumerate(self.everybody) if _covers(v, p)} for v in own}
        if model["name"] == "k-map":
            return min(max(own[v], len(covered[v])) for v in own)
        often = Counter(i for found in covered.values() for i in found)
        presence = [own[v] / max(own[v], len(covered[v])) for v in own]
        shared = any(many > 1 for many in often.values())
        return 1.0 if shared else max(presence)

    def _fine(self, model: dict, vectors: list[tuple]) -> bool:
        found = self.level(model, vectors)
        return found is None or _enough(model, found)

    def check_models(self, vectors: list[tuple], checks: list[dict]) -> None:
        for model, check in zip(self.models, checks, strict=True):
            self.trial.counts["requirements recomputed"] += 1
            self.trial.counts[f"model {model['name']}"] += 1
            found, reached = self.level(model, vectors), check["reached"]
            if found is None:
                own = self.sizes(vectors)
                most = sum(f == 1 for f in own.values()) / sum(own.values())
                self.trial.check(0 <= reached <= min(most, model["u"]) + 1e-9, f"{model} {reached}")
                continue
            self.trial.check(_enough(model, found), f"VIOLATED: {model} reaches {found}")
            good = isclose(found, reached, rel_tol=1e-9)
            self.trial.check(good, f"{model}: {reached} reported, {found} recomputed")

    def check_risks(self, vectors: list[tuple], sample: dict | None) -> None:
        if not self.weighted:
            return
        assert sample is not None
        self.trial.counts["individual risks recomputed"] += 1
        f = Counter(vectors)
        people: Counter = Counter()
        for vector, weight in zip(vectors, self.weights, strict=True):
            people[vector] += weight
        risks = [_risk(f[vector], people[vector]) for vector in vectors]
        found = sample["individual_risk"]
        for name, ours in (
            ("highest", max(risks)),
            ("expected_reidentifications", sum(risks)),
            ("mean", sum(risks) / len(risks)),
        ):
            good = isclose(found[name], ours, rel_tol=1e-6)
            self.trial.check(good, f"{name}: {found[name]} reported, {ours} recomputed")
        if self.housed:
            safe: dict = {}
            for home, risk in zip(self.homes, risks, strict=True):
                safe[home] = safe.get(home, 1) * (1 - risk)
            ours = sum(1 - one for one in safe.values())
            told = found["household"]["expected_reidentifications"]
            self.trial.check(isclose(told, ours, rel_tol=1e-6), f"households: {told}, {ours}")


def _counts_people(model: dict) -> bool:
    """Whether a model is about the table of the population."""
    estimated = "sampling_fraction" in model
    return model["name"] == "delta-presence" or (model["name"] == "k-map" and not estimated)


def _enough(model: dict, level: float) -> bool:
    if model["name"] in ("k-map", "k-anonymity", "household-k-anonymity"):
        return level >= model["k"]
    names = {"delta-presence": "high", "share-at-risk": "share", "population-uniqueness": "u"}
    return level <= model[names.get(model["name"], "r")] + 1e-9


def _covers(vector: tuple, person) -> bool:
    """Whether published values cover those of a person."""
    age, job, sex = vector[:3]
    return _in_range(age, person[0]) and _in_set(job, person[1]) and sex in ("*", person[2])


def _in_range(label: str, age: int) -> bool:
    if label == "*" or not label.startswith("["):
        return label in ("*", str(age))
    low, high = (int(end) for end in label[1:-1].split(", "))
    return low <= age <= high if label.endswith("]") else low <= age < high


def _in_set(label: str, job: str) -> bool:
    return job in label[1:-1].split(", ") if label.startswith("{") else label in ("*", job)


def _taken_for(f: int, model: dict) -> int:
    """The largest k that a class of f records is taken to have (El Emam and Dankar 2008)."""
    k = f
    while True:
        mean = model["sampling_fraction"] * (k + 1)
        above = 1 - sum(exp(i * log(mean) - mean - lgamma(i + 1)) for i in range(f))
        if model["estimator"] != "poisson":
            above /= 1 - exp(-mean)
        if above > model["significance"]:
            return k
        k += 1


def _risk(f: int, people: float) -> float:
    """E[1 / F | f] as an integral (Polettini 2003), by quadrature; s = t³ tames its steep end."""
    share = f / max(people, f)
    t = (NODES + 1) / 2
    s = t**3
    inside = s ** (f - 1) / (share + (1 - share) * s) * 3 * t**2
    return float(share * (WORTH / 2) @ inside)


def _coded(number: int, coding: dict) -> int:
    """A number with top and bottom coding, rounded; halves go up."""
    found = Fraction(number)
    if "round" in coding:
        found = floor(found / coding["round"] + Fraction(1, 2)) * Fraction(coding["round"])
    found = min(found, coding.get("top", found))
    return int(max(found, coding.get("bottom", found)))
