"""Laws that hold for every attack of the catalog."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import catalog
from tests.attacks.tables import TABLE_2, TABLE_4, TABLE_5, VIRUS, columns, look
from tests.attacks.test_attacks import TREE
from tests.naive import attacks as naive

ON_CLASSES = [name for name, kind in catalog.attacks.items() if not kind.needs_original]


@pytest.mark.parametrize("name", catalog.attacks)
def test_every_attack_has_a_naive_twin(name):
    assert name in naive.ELSEWHERE or callable(naive.twin(name))


def test_a_missing_twin_fails_with_a_sentence_that_names_the_file():
    with pytest.raises(AssertionError, match=r"write tests/naive/attack_my_attack\.py with a"):
        naive.twin("my-attack")


@pytest.mark.parametrize("name", ON_CLASSES)
@given(table=columns())
def test_agrees_with_its_naive_twin(name, table):
    found = catalog.attacks[name]().run(look(*table))
    found = found.get("s", found)
    expected = naive.twin(name)(*table)
    assert {key: found[key] for key in expected} == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", catalog.attacks)
@given(table=columns(), seed=st.integers(0, 99))
def test_does_not_depend_on_the_order_of_records(name, table, seed):
    codes, values = table
    order = np.random.default_rng(seed).permutation(len(codes))
    attack = catalog.attacks[name]()
    turned = look([codes[i] for i in order], [values[i] for i in order], TREE)
    assert attack.run(turned) == attack.run(look(codes, values, TREE))


@pytest.mark.parametrize("name", catalog.attacks)
@given(table=columns((None, "a", 1, 2.5, True, float("inf"), Decimal("0.1"), date(2024, 5, 17))))
def test_findings_are_fit_for_json(name, table):
    found = catalog.attacks[name]().run(look(*table))
    assert json.loads(json.dumps(found, allow_nan=False)) == found


@pytest.mark.parametrize("name", catalog.attacks)
@pytest.mark.parametrize("table", [TABLE_2, TABLE_4, TABLE_5, VIRUS])
def test_findings_hold_no_published_quasi_identifier(name, table):
    found = json.dumps(catalog.attacks[name]().run(table), allow_nan=False, ensure_ascii=False)
    for values in table.values:
        assert not any(f'"{value}"' in found for value in values)


@pytest.mark.parametrize("name", catalog.attacks)
@pytest.mark.parametrize("linked", [False, True])
def test_every_attack_describes_itself(name, linked):
    attack = catalog.attacks[name]()
    assert all(field.description for field in type(attack).model_fields.values())
    for words in (
        attack.about(linked),
        attack.success(linked, people=True) or "It does.",
        attack.headline({attack.share_key: 5.0}, "disease", linked),
    ):
        assert words[0].isupper() or words[0].isdigit()
        assert words[-1] in ".?"
    assert "class" not in (attack.about(linked) + attack.success(linked)) or not linked


@pytest.mark.parametrize("name", ON_CLASSES)
@given(table=columns())
def test_findings_fit_the_words(name, table):
    """Every finding has a label and can be shown; the count and the share are among them."""
    attack = catalog.attacks[name]()
    found = attack.run(look(*table))
    found = found.get("s", found)
    assert {attack.count_key, attack.share_key} <= set(found) <= set(attack.labels)
    assert all(attack.label(key).show(value) for key, value in found.items())
    assert isinstance(attack.detail(found), str)
