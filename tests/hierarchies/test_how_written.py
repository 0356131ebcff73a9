"""Numbers and dates that a plan does not say how to read: the error says what to state."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

import shoal
from shoal import Plan
from shoal.base.errors import BadHierarchy

DATES = {"dates": ["month", "year"]}
CLEAR, BOTH = "state how they are written: ", "state which one it is: "


@pytest.mark.parametrize(
    ("hierarchy", "cells", "advice"),
    [
        (DATES, ["17.05.2024", "01.06.2024"], CLEAR + "date_format = '%d.%m.%Y'"),
        (DATES, ["05/17/2024", "01/02/2024"], CLEAR + "date_format = '%m/%d/%Y'"),
        (
            DATES,
            ["01/02/2024", "05/06/2024"],
            BOTH + "'01/02/2024' is 2024-02-01 (date_format = '%d/%m/%Y') or 2024-01-02 "
            "(date_format = '%m/%d/%Y')",
        ),
        (DATES, ["17.05.2024", "soon"], "as in date_format = '%d.%m.%Y'"),
        ({"ranges": [10]}, ["1,5", "2"], CLEAR + "decimal = ','"),
        ({"ranges": [10]}, ["1.234,5", "2"], CLEAR + "decimal = ',', thousands = '.'"),
        ({"ranges": [10]}, ["1,5", "2.5"], "as in decimal = ','"),  # two forms
        (
            {"free_ranges": True},
            ["1,234", "17"],
            BOTH + "'1,234' is 1.234 (decimal = ',') or 1234 (thousands = ',')",
        ),
    ],
)
def test_the_error_says_what_to_state(hierarchy, cells, advice):
    """By the whole column; both readings of a value if they are in doubt."""
    plan = Plan(
        columns={"x": {"role": "quasi", "hierarchy": hierarchy}},
        models=[{"name": "k-anonymity", "k": 2}],
    )
    table = pa.table({"x": cells * 2})
    with pytest.raises(BadHierarchy) as raised:
        shoal.anonymize(table, plan)
    assert advice in str(raised.value)


def test_the_advice_works():
    """Each reading that the error names is one with which the table can be released."""
    table = pa.table({"born": ["01/02/2024", "05/06/2024"] * 2})
    born = {"role": "quasi", "hierarchy": DATES}
    models = [{"name": "k-anonymity", "k": 2}]
    with pytest.raises(BadHierarchy) as raised:
        shoal.anonymize(table, Plan(columns={"born": born}, models=models))
    readings = re.findall(r"(\d{4}-\d\d-\d\d) \(date_format = '([^']*)'\)", str(raised.value))
    assert len(readings) == 2
    for read, date_format in readings:
        plan = Plan(columns={"born": born | {"date_format": date_format}}, models=models)
        assert read in shoal.anonymize(table, plan).frame["born"].to_pylist()
