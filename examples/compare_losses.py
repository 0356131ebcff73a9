"""Which metric should guide the merge? Try each of them and measure each release by all."""

import shoal
from shoal import Hierarchy, Plan
from shoal.datasets import adult
from shoal.datasets.adult import hierarchies

METRICS = ("distortion", "ncp", "total", "llm", "nllm", "wllm", "wnllm")

table = adult().select(list(hierarchies())).slice(0, 5000)
columns = {
    name: {"role": "quasi", "hierarchy": Hierarchy.from_tree(tree)}
    for name, tree in hierarchies().items()
}
print("guided by    mean   " + "   ".join(f"{name:>10}" for name in METRICS))
for loss in METRICS:
    plan = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 10}], loss=loss)
    release = shoal.anonymize(table, plan)
    judged = "   ".join(f"{release.losses[name]:10.1f}" for name in METRICS)
    print(f"{loss:10} {release.quality.mean_loss:6.1f}   {judged}")
