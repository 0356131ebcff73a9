"""From a data frame to a release, with its risks and its information loss."""

import shoal
from shoal import Hierarchy, Plan
from shoal.datasets import hospital
from shoal.datasets.hospital import hospital_hierarchies

table = hospital(rows=2000, seed=7).to_pandas()
plan = Plan(
    columns={
        "name": {"role": "identifier"},
        "patient": {"role": "person"},
        "birth date": {
            "role": "quasi",
            "hierarchy": Hierarchy.dates(["year", "5 years", "decade"]),
        },
        "sex": {"role": "quasi"},
        "postcode": {"role": "quasi", "hierarchy": Hierarchy.prefixes()},
        "job": {"role": "quasi", "hierarchy": Hierarchy.from_tree(hospital_hierarchies()["job"])},
        "diagnosis": {"role": "sensitive"},
        "admission": {"role": "other"},
        "length-of-stay": {"role": "other"},
        "smoker": {"role": "other"},
    },
    models=[{"name": "k-anonymity", "k": 5}],
)
print("before:", shoal.audit(table, plan).risks)
release = shoal.anonymize(table, plan)
print("after: ", release.risks)
print(f"lost:   {release.losses['nllm']:.1f} % ({release.classes} classes)")
print(release.frame.head())
