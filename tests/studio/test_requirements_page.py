"""The page of requirements by its forms, as a browser without scripts would use it."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest

from shoal import Plan, catalog
from shoal.studio.requirements.offers import made
from tests.studio.served import Answer, Served


@pytest.fixture(scope="module")
def people(studio: Served, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A small table with an area that a second column gives back."""
    rows = [
        f"{20 + i % 40},{'fm'[i % 2]},{100 + 9 * (i % 12)},{1000 + 37 * (i % 12)},"
        f"{('flu', 'gout', 'cold')[i % 3]}"
        for i in range(360)
    ]
    path = tmp_path_factory.mktemp("people") / "people.csv"
    path.write_text("\n".join(["age,sex,area,density,disease", *rows]) + "\n", encoding="utf-8")
    plan = path.with_name("plan.toml")
    plan.write_text(
        '[columns]\nage = { role = "quasi", hierarchy = { ranges = [5, 10, 20] } }\n'
        'sex = "quasi"\narea = { role = "quasi", hierarchy = { prefixes = true } }\n'
        'density = "drop"\ndisease = "sensitive"\n[[models]]\nname = "k-anonymity"\nk = 5\n'
    )
    project = studio.opened(urlencode({"data": str(path)}))
    for place, role in ((0, "quasi"), (1, "quasi"), (2, "quasi"), (3, "drop"), (4, "sensitive")):
        studio.ask("POST", f"{project}/columns/{place}/role", f"role={role}")
    return project


def sent(studio: Served, project: str, form: str, **fields: str) -> Answer:
    return studio.ask("POST", f"{project}/requirements/{form}", urlencode(fields))


def plan_of(studio: Served, project: str, folder: Path) -> Plan:
    path = folder / "plan.toml"
    path.write_bytes(studio.get(f"{project}/plan.toml").content)
    return Plan.load(path)


def mistake(answer: Answer, place: str) -> str:
    """What is said at a place; raises an error if nothing is."""
    found = re.search(rf'id="mistake-{place}".*?role="alert">(.*?)</div>', answer.text, re.S)
    assert found is not None, f"nothing is said at {place}"
    return unescape(re.sub("<[^>]+>", " ", found[1]))


def press(studio: Served, project: str, text: str, label: str) -> Answer:
    """Press the button with this label next to a mistake."""
    for form in re.findall(r'<form[^>]*/requirements/way".*?</form>', text, re.S):
        button = re.search(r"<button[^>]*>(.*?)</button>", form, re.S)
        assert button is not None
        if label in unescape(button[1]):
            pairs = re.findall(r'name="(\w+)" value="([^"]*)"', form)
            return sent(studio, project, "way", **{k: unescape(v) for k, v in pairs})
    raise AssertionError(f"there is no button {label!r}")


@pytest.mark.parametrize("name", catalog.models)
def test_every_model_can_be_added_changed_and_removed(
    studio: Served, project: str, name: str, tmp_path: Path
) -> None:
    """Or the page says why not: it has several records each, no population and no households."""
    page = studio.get(f"{project}/requirements").text
    form = next(one for one in re.findall(r"<form[^>]*models/add.*?</form>", page, re.S)
                if f'value="{name}"' in one)  # fmt: skip
    if 'class="reason"' in form:
        offered = made(name, "…")
        needed = offered.needs_population or offered.needs_household_column
        assert offered.linkage or needed
        return
    column = re.search(r"<option>([^<]+)", form)
    fields = {"name": name} | ({"column": column[1]} if column else {})
    before = plan_of(studio, project, tmp_path)
    assert sent(studio, project, "models/add", **fields).status == 303
    place = len(before.models)
    added = plan_of(studio, project, tmp_path).models[place]
    assert added.name == name
    page = studio.get(f"{project}/requirements").text
    sentence = re.findall(r'class="sentence">([^<]+)', page)[place]
    assert unescape(sentence) == added.guarantee()
    assert sent(studio, project, f"models/{place}/remove").status == 303
    assert plan_of(studio, project, tmp_path).models == before.models


@pytest.mark.parametrize("part", ["preview", "preview/state", "frontier", "whole"])
def test_undo_stays_on_the_page_whatever_part_came_last(
    studio: Served, project: str, part: str
) -> None:
    answer = studio.ask("GET", f"{project}/{part}", headers={"x-studio": "1"})
    assert re.findall(r'name="step" value="([^"]*)"', answer.text) == ["requirements"] * 2


def test_a_population_is_named_where_requirements_need_it(
    studio: Served, people: str, tmp_path: Path
) -> None:
    """Until then k-map is not offered; with it the preview counts its people."""

    def offered() -> bool:
        page = studio.get(f"{people}/requirements").text
        forms = re.findall(r"<form[^>]*models/add.*?</form>", page, re.S)
        return 'class="reason"' not in next(one for one in forms if 'value="k-map"' in one)

    assert not offered()
    wrong = sent(studio, people, "population", data="nowhere.csv")
    assert wrong.status == 409
    assert "there is no file 'nowhere.csv'" in mistake(wrong, "population")
    assert 'name="data" value="nowhere.csv"' in wrong.text  # what was typed is still there
    everybody = tmp_path / "everybody.csv"
    rows = [f"{20 + i % 40},{'fm'[i % 2]},{100 + 9 * (i % 12)}" for i in range(720)]
    everybody.write_text("\n".join(["age,sex,area", *rows]) + "\n", encoding="utf-8")
    assert sent(studio, people, "population", data=str(everybody)).status == 303
    assert plan_of(studio, people, tmp_path).population.data == everybody
    assert offered()
    sent(studio, people, "models/add", name="k-map")
    preview = studio.get(f"{people}/preview")
    assert preview.status == 200
    assert 'role="alert"' not in preview.text
    sent(studio, people, "population", data=str(everybody), incomplete="on")
    assert plan_of(studio, people, tmp_path).population.incomplete
    missing = sent(studio, people, "population", data="")
    assert missing.status == 303
    assert "no table of it" in mistake(studio.get(f"{people}/requirements"), "model-1")
    sent(studio, people, "models/1/remove")
    assert not plan_of(studio, people, tmp_path).population.stated()


def test_k_map_by_a_sampling_fraction(studio: Served, people: str, tmp_path: Path) -> None:
    wrong = sent(studio, people, "models/add", name="k-map", sampling_fraction="1.5")
    assert wrong.status == 409
    assert "sampling_fraction" in mistake(wrong, "add")
    assert sent(studio, people, "models/add", name="k-map", sampling_fraction="0,25").status == 303
    assert plan_of(studio, people, tmp_path).models[1].options()["sampling_fraction"] == 0.25
    assert 'role="alert"' not in studio.get(f"{people}/requirements").text
    sent(studio, people, "models/1/remove")


def test_options_are_changed_where_they_are(studio: Served, people: str, tmp_path: Path) -> None:
    sent(studio, people, "models/add", name="t-closeness", column="disease")
    answer = sent(studio, people, "models/1", column="disease", t="0,35", distance="l1", order="")
    assert answer.status == 303
    options = plan_of(studio, people, tmp_path).models[1].options()
    assert (options["t"], options["distance"]) == (0.35, "l1")
    wrong = sent(studio, people, "models/1", column="disease", t="7", distance="l1", order="")
    assert wrong.status == 409
    assert "from 0 to 2" in mistake(wrong, "model-1")
    assert 'name="t" value="7"' in wrong.text  # what was typed is still there
    assert plan_of(studio, people, tmp_path).models[1].options()["t"] == 0.35
    sent(studio, people, "models/1/remove")


def test_a_requirement_out_of_reach_offers_the_nearest(studio: Served, people: str) -> None:
    sent(studio, people, "models/add", name="distinct-l-diversity", column="disease")
    sent(studio, people, "models/1", column="disease", l="9")
    preview = studio.get(f"{people}/preview")
    assert "reaches only 3" in mistake(preview, "model-1")
    assert press(studio, people, preview.text, "l = 3").status == 303
    assert 'name="l" value="3"' in studio.get(f"{people}/requirements").text
    assert 'role="alert"' not in studio.get(f"{people}/preview").text
    sent(studio, people, "models/1/remove")


def test_a_column_that_gives_another_back(studio: Served, people: str, tmp_path: Path) -> None:
    """The mistake names it, and each button resolves it."""
    for label in ("Accept that density", "Leave density out", "Generalize density"):
        studio.ask("POST", f"{people}/columns/3/role", "role=other")
        preview = studio.get(f"{people}/preview")
        assert "'density' reveals 'sex', 'area'" in mistake(preview, "columns")
        assert press(studio, people, preview.text, label).status == 303
        assert 'role="alert"' not in studio.get(f"{people}/preview").text
        studio.ask("POST", f"{people}/columns/3/role", "role=drop")
    assert plan_of(studio, people, tmp_path).columns["density"].role == "drop"


def test_attackers_are_rows_of_boxes(studio: Served, people: str, tmp_path: Path) -> None:
    assert sent(studio, people, "attackers", action="add").status == 303
    form = [("who-0", "employer"), ("knows-0", "0"), ("knows-0", "1")]
    answer = studio.ask("POST", f"{people}/requirements/attackers", urlencode(form))
    assert answer.status == 409
    assert "no attacker knows 'area'" in mistake(answer, "attackers")
    assert 'value="employer"' in answer.text  # what was entered is still there
    assert plan_of(studio, people, tmp_path).attackers[0].title == "attacker 1"
    form += [("who-1", "neighbour"), ("knows-1", "2"), ("knows-1", "1")]
    answer = studio.ask("POST", f"{people}/requirements/attackers", urlencode(form))
    assert answer.status == 303
    known = {one.title: one.knows for one in plan_of(studio, people, tmp_path).attackers}
    assert known == {"employer": ["age", "sex"], "neighbour": ["sex", "area"]}
    form.append(("action", "remove-0"))
    answer = studio.ask("POST", f"{people}/requirements/attackers", urlencode(form))
    assert press(studio, people, answer.text, "one attacker who knows everything").status == 303
    assert plan_of(studio, people, tmp_path).attackers == []


def test_limits_with_presets_and_verdicts(studio: Served, people: str, tmp_path: Path) -> None:
    assert sent(studio, people, "limits", preset="public", loss="99").status == 303
    plan = plan_of(studio, people, tmp_path)
    assert (plan.limits.preset, plan.limits.loss) == ("public", 99.0)
    assert "European Medicines Agency" in studio.get(f"{people}/requirements").text
    preview = studio.get(f"{people}/preview").text
    assert "beyond the limit of 9%" in preview
    assert "well within the limit of 99%" in preview
    assert press(studio, people, preview, "k = 12").status == 303
    assert "beyond the limit" not in studio.get(f"{people}/preview").text
    wrong = sent(studio, people, "limits", highest_risk="250")
    assert "from 0 to 1" in mistake(wrong, "limits") or "at most 1" in mistake(wrong, "limits")
    assert 'value="250"' in wrong.text
    sent(studio, people, "limits")
    assert not plan_of(studio, people, tmp_path).limits


def test_the_method_of_experts(studio: Served, people: str, tmp_path: Path) -> None:
    sent(studio, people, "method", algorithm="full-domain", of="peel", loss="ncp", seed="11")
    plan = plan_of(studio, people, tmp_path)
    assert (plan.algorithm.name, plan.loss.name, plan.seed) == ("full-domain", "ncp", 11)
    fields = {"algorithm": "full-domain", "of": "full-domain", "loss": "ncp", "seed": ""}
    sent(studio, people, "method", **fields, suppression="0.1", objective="discernibility")
    plan = plan_of(studio, people, tmp_path)
    assert plan.algorithm.options() == {"suppression": 0.1, "objective": "discernibility"}
    assert plan.seed is None
    wrong = sent(studio, people, "method", **fields, suppression="3", objective="loss")
    assert "from 0 to 1" in mistake(wrong, "method")
    assert '<details id="method" class="card fold" open' in wrong.text
    sent(studio, people, "method", algorithm="peel", of="full-domain", loss="nllm", seed="")


def test_a_model_that_the_algorithm_does_not_support(
    studio: Served, people: str, tmp_path: Path
) -> None:
    """Two steps lead to a plan that works."""
    sent(studio, people, "models/add", name="k-concealment")
    page = studio.get(f"{people}/requirements")
    mistake(page, "model-0")
    press(studio, people, page.text, "Remove k-anonymity")
    page = studio.get(f"{people}/requirements")
    press(studio, people, page.text, "Use the algorithm concealment")
    plan = plan_of(studio, people, tmp_path)
    assert ([one.name for one in plan.models], plan.algorithm.name) == (
        ["k-concealment"], "concealment"
    )  # fmt: skip
    plan.check_served()
    for _ in range(3):
        studio.ask("POST", f"{people}/undo", "step=requirements")


def test_what_the_report_says(studio: Served, people: str, tmp_path: Path) -> None:
    fields = {"title": "Stays", "owner": "Clinic", "purpose": "", "signers": "Ann\n Bob \n"}
    assert sent(studio, people, "about", **fields).status == 303
    about = plan_of(studio, people, tmp_path).about
    assert (about.title, about.owner, about.purpose) == ("Stays", "Clinic", None)
    assert about.signers == ["Ann", "Bob"]
    many = "\n".join(f"Signer {i}" for i in range(9))
    wrong = sent(studio, people, "about", **fields | {"signers": many})
    assert "room for 6" in mistake(wrong, "about")
    assert "Signer 8" in wrong.text


def test_the_plan_is_shown_as_text(studio: Served, people: str) -> None:
    page = studio.get(f"{people}/requirements").text
    shown = re.search(r'<pre class="code"[^>]*>(.*?)</pre>', page, re.S)
    assert shown is not None
    assert unescape(shown[1]) == studio.get(f"{people}/plan.toml").text


def test_forms_of_an_older_plan_change_nothing(studio: Served, people: str) -> None:
    before = studio.get(f"{people}/plan.toml").text
    forms = ("models/0", "models/0/remove", "models/add", "limits", "about", "method", "attackers",
             "way")  # fmt: skip
    for form in forms:
        answer = sent(studio, people, form, version="0-none", k="3", name="k-anonymity")
        assert answer.status == 409, form
        assert "another tab" in answer.text
    assert studio.get(f"{people}/plan.toml").text == before


def test_requirements_that_are_gone(studio: Served, people: str) -> None:
    for form in ("models/77", "models/77/remove"):
        assert sent(studio, people, form).status == 409
    assert sent(studio, people, "models/add", name="no-such-model").status == 409
    assert sent(studio, people, "way", action="explode").status == 409
