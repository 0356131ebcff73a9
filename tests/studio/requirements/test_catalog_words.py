"""Every entry of the catalog speaks German, with its options where they belong."""

from __future__ import annotations

from string import Formatter

import pytest

from shoal import catalog
from shoal.base.options import shapes_of
from shoal.models import LinkageModel
from shoal.models.beta_likeness import BetaLikeness
from shoal.models.delta_disclosure import DeltaDisclosure
from shoal.models.k_anonymity import KAnonymity
from shoal.models.t_closeness import TCloseness
from shoal.studio.requirements.catalog_words import algorithm, guarantee, loss, option
from shoal.studio.requirements.offers import made
from shoal.studio.wording import Wording, texts

GERMAN, ENGLISH = Wording("de"), Wording("en")


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("name", catalog.models)
def test_every_guarantee(name: str, linked: bool) -> None:
    model = made(name, "Krankheit <b>")
    linked = linked or isinstance(model, LinkageModel)
    said = guarantee(GERMAN, model, linked)
    assert said.lang == ""
    assert said.text != model.guarantee(linked)
    assert "{" not in said.text
    assert ("Krankheit" in said.text) == (model.about is not None)
    assert guarantee(ENGLISH, model, linked) == (model.guarantee(linked), "")


def test_numbers_are_those_of_the_model() -> None:
    assert "mindestens 1.233 andere" in guarantee(GERMAN, KAnonymity(k=1234), False).text
    close = guarantee(GERMAN, TCloseness(column="x", t=0.25, distance="l1"), False).text
    assert "höchstens 0,25" in close
    assert "und 2, wenn" in close
    assert "bis zu 12,5 Prozentpunkte" in close
    assert "1,5 Mal" in guarantee(GERMAN, BetaLikeness(column="x", beta=0.5), False).text
    assert "sehr viele" in guarantee(GERMAN, DeltaDisclosure(column="x", delta=30), False).text


def test_every_option_algorithm_and_loss() -> None:
    kinds = [*catalog.models.items(), *catalog.algorithms.items(), *catalog.losses.items()]
    for name, kind in kinds:
        for one, shape in shapes_of(kind).items():
            assert option(GERMAN, name, one, shape.description).lang == "", (name, one)
    assert all(algorithm(GERMAN, name, "x").lang == "" for name in catalog.algorithms)
    assert all(loss(GERMAN, name, "x").lang == "" for name in catalog.losses)


def test_a_plug_in_speaks_english_and_says_so() -> None:
    assert algorithm(GERMAN, "of a plug-in", "Does it.") == ("Does it.", "en")
    assert algorithm(ENGLISH, "of a plug-in", "Does it.") == ("Does it.", "")
    assert option(GERMAN, "of a plug-in", "zeal", "how hard") == ("how hard", "en")


def test_no_text_is_of_an_entry_that_there_is_not() -> None:
    known = {*catalog.models, *catalog.algorithms, *catalog.losses}
    for key, text in texts("catalog-de").items():
        section, _, rest = key.partition(".")
        if section in ("guarantees", "algorithms", "losses"):
            assert rest in known or rest.rpartition(".")[0] in known, key
        assert not any(name == "" for _, name, _, _ in Formatter().parse(text)), key
