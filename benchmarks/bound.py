"""The lower bound with high effort: the linear program over groups of k records.

Of Adult, and of Census-Income with eight columns if it is available.

Next to it the bound of normal effort, and what `peel` loses, as `shoal anonymize` runs it. Then the
bound with a model about occupation, which is then no quasi-identifier. Times are processor seconds.
"""

from __future__ import annotations

from time import process_time

import numpy as np

from benchmarks.peel import DATA, EIGHT, census
from benchmarks.tables import encoded, frame, plan
from shoal import catalog
from shoal.algorithms._shared.recode import recode
from shoal.base.progress import found_by
from shoal.io.frames import open_frame
from shoal.losses import alteration
from shoal.losses.nllm import NLLM
from shoal.measures.bounds.lower_bound import lower_bound
from shoal.models import Model
from shoal.models.distinct_l_diversity import DistinctLDiversity
from shoal.models.frequency_l_diversity import FrequencyLDiversity
from shoal.models.k_anonymity import KAnonymity
from shoal.models.t_closeness import TCloseness
from shoal.table.encode import Table, encode

SIZES = (2, 5, 10, 100)
CENSUS_SIZE = 100
MODELS = (
    DistinctLDiversity(column="occupation", l=3),
    FrequencyLDiversity(column="occupation", l=2),
    TCloseness(column="occupation", t=0.3),
)


def run() -> list[dict]:
    lines = [measured("Adult", encoded(), k) for k in SIZES]
    if (DATA / "census_income").is_dir():
        lines.append(measured("Census-Income", census(EIGHT), CENSUS_SIZE))
    return lines + [with_model(model) for model in MODELS]


def measured(name: str, table: Table, k: int) -> dict:
    """Both bounds for classes of k people, and the loss of `peel`, in percent."""
    loss = NLLM()
    begin = process_time()
    normal = lower_bound(table, k, loss).percent
    middle = process_time()
    gap: dict[str, float] = {}
    high = lower_bound(
        table, k, loss, effort="high", progress=lambda stage, _: gap.update(found_by(stage))
    ).percent
    end = process_time()
    rng = np.random.default_rng(0)
    made = recode(catalog.algorithms["peel"](), table, [KAnonymity(k=k)], loss, rng)
    codes = made.vectors[made.record]
    after = [np.bincount(codes[:, j], minlength=t.size) for j, t in enumerate(table.trees)]
    lost = alteration(loss.costs(table.domains), [d.counts for d in table.domains], after)
    return {
        "what": f"{name}, k = {k}: the bound with high effort is {high:.3f} % (gap "
        f"{gap.get('gap', 0.0):.2f} %), with normal effort {normal:.3f} %, "
        f"peel loses {lost:.3f} %; processor seconds",
        "shoal": end - middle,
        "plain scan": middle - begin,
        "ratio": (end - middle) / (middle - begin),
        "goal": "",
    }


def with_model(model: Model) -> dict:
    """The bound for k = 5 without and with a model about occupation, in percent."""
    columns = {**plan().columns, "occupation": "sensitive"}
    table, loss = encode(open_frame(frame()), plan(columns=columns).columns), NLLM()
    begin = process_time()
    alone = lower_bound(table, 5, loss).percent
    middle = process_time()
    bound = lower_bound(table, 5, loss, models=[model]).percent
    end = process_time()
    return {
        "what": f"Adult, k = 5, {model.key} {model.required:g}: the bound is {bound:.3f} %, for k "
        f"alone {alone:.3f} %; processor seconds",
        "shoal": end - middle,
        "plain scan": middle - begin,
        "ratio": (end - middle) / (middle - begin),
        "goal": "",
    }
