"""From a sheet of a workbook to a release that opens in a spreadsheet program."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

import shoal
from shoal.datasets import hospital

# Postcodes such as 01300 are text in the sheet, and stay text. The plan names the sheet, and the
# release has a sheet of the same name: the plan reads both.
plan = shoal.Plan(
    columns={
        "name": {"role": "identifier"},
        "sex": {"role": "quasi"},
        "postcode": {"role": "quasi", "hierarchy": {"prefixes": [3, 2, 1]}},
        "diagnosis": {"role": "sensitive"},
    },
    models=[{"name": "k-anonymity", "k": 5}],
    read={"sheet": "Patients"},
)
patients = hospital(rows=500, seed=7).to_pandas()[list(plan.columns)]

with TemporaryDirectory() as folder:
    data, out = Path(folder, "patients.xlsx"), Path(folder, "release.xlsx")
    with pd.ExcelWriter(data, engine="xlsxwriter") as book:
        pd.DataFrame({"made": ["up"]}).to_excel(book, sheet_name="About", index=False)
        patients.to_excel(book, sheet_name="Patients", index=False)

    release = shoal.anonymize(data, plan)
    release.save(out)
    audit = shoal.audit(out, plan)
    print(f"{release.published} records in {release.classes} classes")
    print("satisfied:", all(check.holds for check in audit.checks))
    print(pd.read_excel(out, sheet_name="Patients", dtype=str).head())
