"""Is a 3-diverse table safe? Audit one that is 3-diverse, and one that is t-close as well."""

import pandas as pd

import shoal
from shoal import Hierarchy, Plan

# Tables 4 and 5 of the slides on t-closeness (Li, Li and Venkatasubramanian 2007).
diverse = pd.DataFrame(
    {
        "zip": ["476**"] * 3 + ["4790*"] * 3 + ["476**"] * 3,
        "age": ["2*"] * 3 + ["≥ 40"] * 3 + ["3*"] * 3,
        "salary": [3, 4, 5, 6, 11, 8, 7, 9, 10],
        "disease": [
            *("gastric ulcer", "gastritis", "stomach cancer"),
            *("gastritis", "flu", "bronchitis"),
            *("bronchitis", "pneumonia", "stomach cancer"),
        ],
    }
)
close = diverse.assign(
    zip=["4767*", "4760*", "4767*"] + ["4790*"] * 3 + ["4760*", "4767*", "4760*"],
    age=["≤ 40"] * 3 + ["≥ 40"] * 3 + ["≤ 40"] * 3,
)
diseases = Hierarchy.from_tree(
    {
        "disease": {
            "respiratory": {"infection": ["flu", "pneumonia", "bronchitis"]},
            "digestive": {"stomach": ["gastric ulcer", "stomach cancer", "gastritis"]},
        }
    }
)
plan = Plan(
    columns={
        "zip": "quasi",
        "age": "quasi",
        "salary": "sensitive",
        "disease": {"role": "sensitive", "hierarchy": diseases},
    },
    models=[
        {"name": "k-anonymity", "k": 3},
        {"name": "entropy-l-diversity", "column": "disease", "l": 3},
        {"name": "t-closeness", "column": "salary", "t": 0.2, "distance": "ordered"},
        {"name": "t-closeness", "column": "disease", "t": 0.3, "distance": "hierarchical"},
    ],
)
for name, table in (("3-diverse", diverse), ("t-close", close)):
    audit = shoal.audit(table, plan)
    print(f"{name}: {'satisfies' if audit.holds else 'violates'} the plan")
    for model, level in audit.levels.items():
        print(f"  {model}: {level:.3f}")
    for attack in ("homogeneity", "background-knowledge", "skewness", "similarity"):
        found = {column: finding["records"] for column, finding in audit.attacks[attack].items()}
        print(f"  {attack} finds, of {audit.rows} rows: {found}")
