"""Fields: every option of every entry goes into a form and comes back the same."""

from __future__ import annotations

import pytest

from shoal import catalog
from shoal.algorithms.gaa import GAA
from shoal.base.errors import BadPlan
from shoal.base.settings import Setting
from shoal.models.k_anonymity import KAnonymity
from shoal.models.t_closeness import TCloseness
from shoal.studio.requirements.fields import fields_of, options_from
from shoal.studio.requirements.offers import made


def typed(setting: Setting, columns: list[str]) -> dict[str, str]:
    """What a browser sends: a box that is not ticked is not sent."""
    fields = fields_of(setting, columns)
    return {one.name: one.value for one in fields if one.kind != "switch" or one.value}


MODELS = [made(name, "disease") for name in catalog.models]
METHODS = [kind() for kind in catalog.algorithms.values()]


@pytest.mark.parametrize("setting", [*MODELS, *METHODS], ids=lambda one: one.name)
def test_a_form_gives_back_what_it_shows(setting: Setting) -> None:
    kind = type(setting)
    assert kind(**options_from(kind, typed(setting, ["disease", "income"]))) == setting


def test_other_values_come_back_too() -> None:
    close = TCloseness(column="stage", t=0.15, distance="ordered", order=("low", "mid", "high"))
    assert TCloseness(**options_from(TCloseness, typed(close, ["stage"]))) == close
    merge = GAA(strategy="S4", column="disease", weight="unit")
    assert GAA(**options_from(GAA, typed(merge, ["disease"]))) == merge


def test_sliders_have_usual_ends_and_the_present_value() -> None:
    (field,) = fields_of(KAnonymity(k=5))
    assert (field.slider, field.low, field.high, field.step) == ((2, 100, 1), 2, None, "1")
    (field,) = fields_of(KAnonymity(k=250))
    assert field.slider == (2, 250, 1)
    (field,) = fields_of(KAnonymity(k=5), most={"k": 40})
    assert field.slider == (2, 40, 1)


def test_what_was_typed_is_shown_again() -> None:
    (field,) = fields_of(KAnonymity(k=5), typed={"k": "many"})
    assert field.value == "many"


@pytest.mark.parametrize("text", ["many", "", "2.5", "nan", "inf", "1,2,3"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(BadPlan):
        KAnonymity(**options_from(KAnonymity, {"k": text}))


def test_a_column_that_is_gone_is_still_shown() -> None:
    fields = {one.name: one for one in fields_of(TCloseness(column="old", t=0.2), ["new"])}
    assert fields["column"].choices == ("new", "old")
