"""Five records may be one person: k counted over the stays of a hospital, and over its patients.

Reads UCI Diabetes 130-US hospitals from the folder given by `--data`, otherwise from the cache or
UCI. With `--out` it writes the table, the two plans and the release over records to a folder.
"""

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

import shoal
from shoal import BadFile, Hierarchy, Plan
from shoal.datasets import diabetes
from shoal.datasets.diabetes import hierarchies

K5 = [{"name": "k-anonymity", "k": 5}]
EIR_L = {"column": "diag_1", "l": 3}
MODELS = {
    "ir-k-anonymity": {"k": 5},
    "ir-kl-anonymity": {"column": "diag_1", "k": 5, "l": 3},
    "ir-alpha-beta-anonymity": {"column": "diag_1", "alpha": 0.2, "beta": 0.5},
    "eir-l-diversity": EIR_L,
    "eir-alpha-beta-anonymity": {"column": "diag_1", "alpha": 0.2, "beta": 0.5},
}


def main() -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--data", help="a folder with diabetic_data.csv")
    parser.add_argument("--out", type=Path, help="a folder for the table, plans and release")
    options, _ = parser.parse_known_args()
    try:
        table = diabetes(options.data)
    except BadFile as error:
        print(f"No data, so there is nothing to show: {error}")
        return
    stays = table.select(["patient_nbr", *hierarchies(), "diag_1"])
    _, often = np.unique(stays["patient_nbr"], return_counts=True)
    print(f"{len(stays):,} stays of {len(often):,} patients")
    print(f"{(often > 1).sum():,} of them came more than once, one came {often.max()} times\n")
    linked = before_and_after(stays)
    people_models(stays)
    if options.out:
        write(options.out, stays, linked)


def plan_for(role: str, models: list[dict[str, object]]) -> Plan:
    """The plan; `patient_nbr` is dropped as an identifier, or states the person of each record."""
    quasi = {
        name: {"role": "quasi", "hierarchy": Hierarchy.from_tree(tree)}
        for name, tree in hierarchies().items()
    }
    columns = {"patient_nbr": role, **quasi, "diag_1": "sensitive"}
    return Plan(columns=columns, models=models, algorithm="gaa", seed=1)


def before_and_after(stays: pa.Table) -> pa.Table:
    """k = 5 over records and over people, and the release over records if records are linked."""
    by_rows = shoal.anonymize(stays, plan_for("identifier", K5), keep_order=True)
    by_people = shoal.anonymize(stays, plan_for("person", K5))
    # Not for publication: the release over records, with the patient of each record.
    linked = by_rows.frame.add_column(0, "patient_nbr", stays["patient_nbr"])
    tables = {
        "original": (stays, 0.0),
        "k = 5 over records": (linked, by_rows.losses["nllm"]),
        "k = 5 over people": (by_people.frame, by_people.losses["nllm"]),
    }
    print("                      lost   classes  smallest      unique  fewer than 5")
    for name, (table, lost) in tables.items():
        classes = shoal.audit(table, plan_for("person", K5)).published.classes
        sizes = {
            "records": classes.size[classes.label],
            "people of a class": classes.people[classes.label],
            "people, records linked": classes.candidates,
        }
        print(f"{name:20}{lost:4.1f} %{len(classes):10,}")
        for counted, size_of in sizes.items():
            by_record = counted == "records"
            person = np.arange(len(size_of)) if by_record else table["patient_nbr"].to_numpy()
            unique, few = (len(np.unique(person[size_of < size])) for size in (2, 5))
            print(f"  {counted:34}{size_of.min():10}{unique:12,}{few:14,}")
    return linked


def people_models(stays: pa.Table) -> None:
    """One release for each of the models that count people, and which others it satisfies."""
    every = [{"name": name, **options} for name, options in MODELS.items()]
    requirements = {str(model["name"]): [model] for model in every}
    requirements["k = 5, eir-l-diversity"] = [*K5, {"name": "eir-l-diversity", **EIR_L}]
    print("\nrequired                    lost   classes   ir-k  ir-kl  ir-ab  eir-l eir-ab")
    for name, models in requirements.items():
        release = shoal.anonymize(stays, plan_for("person", models))
        checks = shoal.audit(release.frame, plan_for("person", every)).checks
        satisfied = "".join(f"{'yes' if check.holds else '–':>7}" for check in checks)
        print(f"{name:26}{release.losses['nllm']:4.1f} %{release.classes:10,}{satisfied}")


def write(folder: Path, stays: pa.Table, linked: pa.Table) -> None:
    """Write files with which to try the command line."""
    folder.mkdir(parents=True, exist_ok=True)
    pa_csv.write_csv(stays, folder / "stays.csv")
    pa_csv.write_csv(linked, folder / "linked.csv")
    plan_for("identifier", K5).save(folder / "rows.toml")
    plan_for("person", K5).save(folder / "people.toml")
    print(f"\nwritten: {', '.join(sorted(path.name for path in folder.iterdir()))}")


if __name__ == "__main__":
    main()
