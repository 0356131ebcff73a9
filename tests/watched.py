"""All algorithms with all losses on random small tables, in a process that cannot hang.

`python -m tests.watched EXAMPLES SEED [ALGORITHM …]` ends with status 1 and the place where it
stands if one of the cases takes longer than it may.

With NUMBA_DISABLE_JIT kernels run as Python code, on arrays that refuse every place outside, also
a negative one: numba's own checks (NUMBA_BOUNDSCHECK) take -1 for the last place, as Python does.
"""
# ruff: noqa: E402 (kernels are made strict before they are loaded)

from __future__ import annotations

import faulthandler
import os
import subprocess
import sys
from functools import wraps
from pathlib import Path

import numpy as np

import shoal.kernels


class Strict(np.ndarray):
    """An array that has no place -1."""

    def __getitem__(self, key):
        return super().__getitem__(not_negative(key))

    def __setitem__(self, key, value):
        super().__setitem__(not_negative(key), value)


def not_negative(key):
    for one in key if isinstance(key, tuple) else (key,):
        if isinstance(one, (int, np.integer)) and one < 0:
            raise IndexError(f"place {key} of an array")
    return key


def strict(thing):
    if type(thing) is np.ndarray:
        return thing.view(Strict)
    if isinstance(thing, tuple) and hasattr(thing, "_fields"):
        return type(thing)(*map(strict, thing))
    return thing


def plain(thing):
    if isinstance(thing, Strict):
        return thing.view(np.ndarray)
    if isinstance(thing, tuple):
        parts = map(plain, thing)
        return type(thing)(*parts) if hasattr(thing, "_fields") else tuple(parts)
    return thing


def strict_kernel(function, **_):
    """A kernel as Python code; one that is called by another is as it is."""

    @wraps(function)
    def run(*args):
        if INSIDE:
            return function(*args)
        INSIDE.append(True)
        try:
            return plain(function(*map(strict, args)))
        finally:
            INSIDE.clear()

    return run


INSIDE: list[bool] = []
LAST = ("members_of",)  # reads the last place of an array as -1
if os.environ.get("NUMBA_DISABLE_JIT") == "1":
    usual = shoal.kernels._compiled
    shoal.kernels._compiled = lambda function, **options: (
        usual if function.__name__ in LAST else strict_kernel
    )(function, **options)

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

from shoal import catalog
from shoal.attacks import LinkageAttack
from shoal.base.errors import BadPlan, CannotReach
from shoal.losses.weights import Weights
from shoal.measures.bounds.lower_bound import lower_bound
from shoal.models.distinct_l_diversity import DistinctLDiversity
from shoal.models.eir_l_diversity import EIRLDiversity
from shoal.models.frequency_l_diversity import FrequencyLDiversity
from shoal.models.k_anonymity import KAnonymity
from shoal.models.k_concealment import KConcealment
from shoal.models.t_closeness import TCloseness
from shoal.table.equivalence_classes import tally
from shoal.table.match_graph import link
from shoal.table.recoding import SUPPRESSED, check_covers
from tests.strategies import tables
from tests.table.test_match_graph import as_published

# Options that lead to kernels which the defaults never call.
OPTIONS = {
    "gaa": [{}, *({"strategy": one, "column": "s"} for one in ("S2", "S3", "S4", "S7"))],
    "concealment": [{}, {"randomized": False, "start": "expansion"}],
    "freeform": [{"rounds": 20}, {"rounds": 0}],
}
PATIENCE = 600.0  # seconds that a case may take; any may be the first that needs some kernel
ROOT = Path(__file__).parents[1]


def losses(table):
    """Every loss of the catalog, with weights that leave no small common denominator."""
    weights = {
        name: {label: np.pi ** (1 + i % 7) for i, label in enumerate(tree.labels) if label}
        for name, tree in zip(table.names, table.trees, strict=True)
    }
    made = [kind() for name, kind in catalog.losses.decided.items() if name != "weights"]
    return [*made, Weights(edge_weights=weights)]


def watched(names, many, seed):
    """Run so many examples of each of these algorithms."""

    def case(name):
        free = catalog.algorithms[name].free

        @settings(
            max_examples=many, deadline=None, database=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @seeded(seed)
        @given(
            table=tables(12, 4, persons=True, sensitive=True, free=free, least_rows=1),
            k=st.integers(1, 12),
            kind=st.integers(0, 4),
            number=st.integers(0, 99),
        )
        def run(table, k, kind, number):
            k = min(k, table.person_count)
            every = losses(table) if not table.free else [catalog.losses["ncp"]()]
            one(name, table, k, kind, every[number % len(every)], number)
            faulthandler.dump_traceback_later(PATIENCE, exit=True)

        return run

    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    for name in names:
        case(name)()
    faulthandler.cancel_dump_traceback_later()


def one(name, table, k, kind, loss, number):
    """Run an algorithm; what comes out covers the table, and has k people in every class."""
    options = OPTIONS.get(name, [{}]) if not table.free else [{}]
    algorithm = catalog.algorithms[name](**options[number % len(options)])
    models = [KAnonymity(k=k)] if k > 1 else [KAnonymity(k=2)]
    more = [
        None,
        TCloseness(column="s", t=0.3),
        DistinctLDiversity(column="s", l=2),
        EIRLDiversity(column="s", l=2),
        FrequencyLDiversity(column="s", l=2),
    ][kind]
    if not algorithm.serves(models[0]):
        models = [KConcealment(k=max(k, 2))]
    if more is not None and algorithm.serves(more):
        models.append(more)
    try:
        found = algorithm.recode(table, models, loss, np.random.default_rng(number))
    except (CannotReach, BadPlan):
        return
    check_covers(table, found)
    rows = np.flatnonzero(found.record != SUPPRESSED)
    people = None if table.people is None else np.unique(table.people[rows], return_inverse=True)[1]
    if not models[0].linkage:
        assert models[0].check(tally(found.codes()[rows], people)).holds
    if not table.free:
        lower_bound(table, max(k, 2), loss)
        if table.people is None and not found.suppressed:
            linkage = link(table, as_published(table, found.codes()))
            for attack in catalog.attacks.values():
                if issubclass(attack, LinkageAttack):
                    attack().run_on(linkage)


def in_a_process(*words, **environment):
    """Run this file in a process of its own; returns its exit status and output."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "tests.watched", *map(str, words)],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": path} | environment,
    )  # fmt: skip


def main():
    many, seed, *names = sys.argv[1:]
    watched(names or list(catalog.algorithms.decided), int(many), int(seed))


if __name__ == "__main__":
    main()
