"""The first two pages: whose table, what is asked and reached, what remains, who signs."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import pyarrow as pa
import pytest

import shoal
from shoal import Plan, catalog
from shoal.measures.breakdowns.dependencies import Revealed
from shoal.measures.verdicts.verdict import Verdict
from shoal.report.front.not_guaranteed import not_guaranteed
from shoal.report.front.other_columns import lowers, with_other_columns
from shoal.report.front.paper import PAGE, front_height, head_height, height
from shoal.report.front.summary import asked
from shoal.report.limit_facts import limit_facts
from shoal.report.page import HtmlTable, render
from shoal.report.release_report import facts, page
from tests.flow import test_dependent_columns as dependent
from tests.report.test_release_report import HOSTILE, Seen, check_safe, people, plan

ABOUT = {
    "title": "Stays & visits",
    "owner": "Clinic",
    "purpose": "Research",
    "recipient": "University",
    "contact": "dpo@example.org",
    "date": "2026-03-01",
    "signers": ["Dr. Ann Lee", "Bo Ek"],
}
LIMITS = {
    "preset": "cells-3",
    "average_risk": 0.9,
    "share_at_risk": {"share": 1.0, "threshold": 0.2},
    "attacks": {"homogeneity": 1.0},
    "loss": 100,
    "suppressed": 0.5,
}


def html_of(**more):
    return render(page(facts(shoal.anonymize(people(), plan().changed(**more)))))


def front(html):
    """Everything before the annex."""
    return html.partition('<nav class="annex"')[0]


def test_page_one_has_all_that_is_asked_for():
    html = html_of(about=ABOUT, limits=LIMITS)
    seen = check_safe(html)
    first, second = front(html).split('<div class="front">')
    said = " ".join(" ".join(Seen(first).words).replace("\xa0", " ").split())
    order = [
        "Stays & visits", "Release of 60 records", "Data owner Clinic", "Purpose Research",
        "Recipient University", "Contact dpo@example.org", "Date 2026-03-01",
        "To be signed by Dr. Ann Lee and Bo Ek",
        "The requirement is satisfied. Within all 6 limits:",
        "k-anonymity", "✔ satisfied Each person looks like at least 3 others.",
        "highest re-identification risk at most 33.3 %",
        "average re-identification risk", "people with a risk above 20 %",
        "people on whom homogeneity succeeds, on disease", "information loss (nllm)",
        "suppressed records", "Green: at most 80 % of the limit.",
        "Preset cells-3: no group of fewer than 3 people",
        "What remains possible",
    ]  # fmt: skip
    said = said[said.index("</style>") if "</style>" in said else 0 :]
    places = [said.find(piece, said.find("Release report")) for piece in order]
    assert -1 not in places, order[places.index(-1)]
    assert places == sorted(places)
    for name in ABOUT["signers"]:
        assert f"<p>{name}</p>" in second
    assert "Recipient and purpose" not in second
    assert second.count("<dt>Signature</dt>") == 2
    assert "☐ publish" in second
    assert "compliant" not in seen.text.lower()


def test_without_words_and_limits_it_says_so():
    html = html_of()
    assert "The plan sets no limits" in front(html)
    assert "Data owner" not in html
    assert "Recipient and purpose" in front(html)
    assert front(html).count("<dt>Signature</dt>") == 1


def test_markup_in_the_words_is_only_words():
    hostile = dict.fromkeys(("title", "owner", "purpose", "recipient", "contact", "date"), HOSTILE)
    html = html_of(about={**hostile, "signers": [HOSTILE, "{{ 7*7 }}", "a\u202eb\x00\nc"]})
    check_safe(html)
    assert "<script" not in html
    assert unescape(front(html)).count("<script>alert(1)</script>") >= 8
    assert "{{ 7*7 }}" in front(html)
    assert "\u202e" not in front(html)


@pytest.mark.parametrize(
    ("reached", "symbol", "word", "said"),
    [
        (0.1, "✔", "green", "50 % of the limit: the smallest class has 10 people."),
        (1 / 6, "▲", "amber", "83.3 % of the limit: the smallest class has 6 people."),
        (0.2, "▲", "amber", "Exactly the limit: the smallest class has 5 people."),
        (0.5, "✖", "red", "Beyond the limit, 2.5 times as much: the smallest class has 2 people."),
        (1.0, "✖", "red", "Beyond the limit, 5.0 times as much: somebody is unique."),
        (None, "?", "unknown", "The probabilities of the possible records are not known."),
    ],
)
def test_a_verdict_is_a_symbol_a_word_and_a_reason(reached, symbol, word, said):
    known = facts(shoal.anonymize(people(), plan()))
    limits = limit_facts([Verdict("highest_risk", 0.2, reached)], "nllm")
    html = front(render(page(replace(known, limits=limits))))
    text = Seen(html).text.replace("\xa0", " ")
    assert re.search(rf"{re.escape(symbol)} {word} ?{re.escape(said)}", text)
    assert f"{symbol} The requirement is satisfied. The limit is {word}." in text


def test_every_reason_is_one_sentence_about_this_limit():
    """What the number means, for a reader who knows neither the measure nor the attack."""
    names = ["average_risk", "loss", "suppressed", *(f"attacks.{one}" for one in catalog.attacks)]
    given = [Verdict(name, 50.0 if name == "loss" else 0.5, 0.25) for name in names]
    given.append(Verdict("share_at_risk", 0.5, 0.25, threshold=0.2))
    for one in limit_facts(given, "nllm"):
        start, _, meaning = one.reason.partition(": ")
        assert start.endswith("of the limit")
        assert len(meaning) > 15, one
        assert one.reason.count(". ") == 0
        assert one.reason.endswith(".")
    # Nothing is said of classes where there are none.
    assert not [one for one in limit_facts(given[:-1], "nllm", True) if "class" in one.reason]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ("gg", "✔ The requirement is satisfied. Within both limits: 2 green."),
        ("gag", "▲ The requirement is satisfied. Within all 3 limits: 1 amber, 2 green."),
        ("grar", "✖ The requirement is satisfied. Beyond 2 of 4 limits: 2 red, 1 amber, 1 green."),
        ("gu", "? The requirement is satisfied. Within 1 of 2 limits: 1 unknown, 1 green."),
        ("", "The requirement is satisfied."),
    ],
)
def test_the_first_sentence_is_the_verdict(found, said):
    reached = {"g": 0.1, "a": 0.19, "r": 0.3, "u": None}
    known = facts(shoal.anonymize(people(), plan()))
    limits = limit_facts([Verdict("average_risk", 0.2, reached[one]) for one in found], "nllm")
    html = render(page(replace(known, limits=limits)))
    (lead,) = re.findall(r'<p class="lead">(.*?)</p>', html)
    assert lead == said


def test_page_two_says_which_columns_are_published():
    html = html_of()
    section = Seen(front(html).partition("What is published</h2>")[2].partition("<h2")[0]).text
    for piece in (
        "quasi-identifiers age and city generalized", "sensitive disease unchanged",
        "other income and note unchanged", "not published name and patient –",
    ):  # fmt: skip
        assert piece in section, section


def test_page_two_does_not_call_coded_numbers_unchanged():
    rows = {
        "age": [30, 34, 51, 59], "hours": [40, 40, 20, 95], "gain": [0, 120, 9_999, 99_999],
        "pay": [-5, 10, 20, 30], "note": list("abcd"), "illness": list("xyxy"),
    }  # fmt: skip
    columns = {
        "age": {"role": "quasi", "microaggregate": "mean"},
        "hours": {"role": "quasi", "top": 80},
        "gain": {"role": "other", "top": 10_000, "round": 100},
        "pay": {"role": "sensitive", "bottom": 0},
        "note": "other",
        "illness": "sensitive",
    }
    asked = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 2}], seed=1,
                 accept=["gain", "note"])  # fmt: skip
    html = render(page(facts(shoal.anonymize(pa.table(rows), asked))))
    section = Seen(front(html).partition("What is published</h2>")[2].partition("<h2")[0]).text
    for piece in (
        "quasi-identifiers age mean of each class",
        "quasi-identifiers hours cut off and generalized",
        "sensitive pay cut off", "sensitive illness unchanged",
        "other gain rounded and cut off", "other note unchanged",
    ):  # fmt: skip
        assert piece in section, section


def test_many_limits_leave_the_signature_on_page_two():
    """What remains possible moves to page two if the limits fill page one."""
    known = facts(shoal.anonymize(people(), plan()))  # k-anonymity, and what other columns reveal
    for many, place in ((9, 0), (24, 1)):
        limits = limit_facts([Verdict("average_risk", 0.2, 0.1)] * many, "nllm")
        pages = front(render(page(replace(known, limits=limits)))).split('<div class="front">')
        assert ["What remains possible" in one for one in pages] == [place == 0, place == 1]


LONG_TEXT = "data protection and research department of the university hospital " * 8
LIMITED = [
    Verdict(name, 0.1, 0.099, "a_very_long_column_name_of_a_hospital")
    for name in ("highest_risk", "average_risk", "loss", "attacks.skewness", "attacks.linkage")
    for _ in range(3)
]


def crowded(known):
    """Reports of which much must be said, by what is much of."""
    about = known.about.model_copy(
        update={"title": LONG_TEXT[:200], "signers": ["Dr. Ann Lee, data-protection officer"] * 6}
        | dict.fromkeys(("owner", "purpose", "recipient"), LONG_TEXT[:300])
    )
    names = [f"a_column_of_role_other_{i}" for i in range(30)]
    told = [Revealed((name,), 99, ("education_of_the_mother", "district")) for name in names]
    below = dict.fromkeys(names, 9)
    reads = dict.fromkeys(names, ("district",))
    dependency = replace(
        known.dependency, k=5, others=names, accepted=names, by_other=999, together=1200,
        columns=below, reads=reads, revealing=told,
    )  # fmt: skip
    limits = limit_facts(LIMITED, "nllm")
    roles = [
        *known.columns,
        *(replace(known.columns[0], name=name, role="other") for name in names),
    ]
    changes = {
        "limits": {"limits": limits},
        "requirements": {"requirements": known.requirements * 20},
        "texts": {"about": about},
        "columns": {"dependency": dependency, "columns": roles},
    }
    every = {key: one for change in changes.values() for key, one in change.items()}
    every |= {"has_persons": True, "persons_published": True, "suppressed": 5, "keep_order": True}
    return {name: replace(known, **change) for name, change in {**changes, "all": every}.items()}


def test_what_has_no_room_in_front_moves_to_the_annex():
    """Nothing is lost, and both pages in front have room."""
    known = facts(shoal.anonymize(people(), plan()))
    for name, one in crowded(known).items():
        made = page(one)
        head = head_height(made.title, made.source, made.details, made.warning)
        assert head + height(made.summary) <= PAGE, name
        assert front_height(made.in_front) <= PAGE, name
        assert made.in_front[-1].title == "Sign-off"
        text = Seen(render(made)).text
        for point in not_guaranteed(one):
            assert point.replace("`", "").replace("\xa0", " ") in text.replace("\xa0", " "), point
        for limit in one.limits:
            assert limit.reason.replace("\xa0", " ") in text.replace("\xa0", " ")
        assert "What is published" in text
        assert "What remains possible" in text
    made = page(crowded(known)["all"])
    titles = [section.title for section in made.sections]
    assert titles[:3] == [
        "Requirements and limits",
        "What is published",
        "What else is not guaranteed",
    ]
    assert page(known).sections[0].title == "Requirements"


def test_of_what_is_asked_the_worst_stays_on_page_one():
    known = facts(shoal.anonymize(people(), plan()))
    given = [Verdict("loss", 50, 1.0)] * 30 + [Verdict("average_risk", 0.1, 0.2)]
    made = page(replace(known, limits=limit_facts(given, "nllm")))
    (table,) = [one for one in made.summary if isinstance(one, HtmlTable)]
    words = [row[-1].text for row in table.cells]
    assert "✖ red" in words
    assert words[-1] in ("✔ green", "✔ satisfied")
    kept = sum(word == "✔ green" for word in words[:-1])
    satisfied = sum(word == "✔ satisfied" for word in words[:-1])
    left = 30 - kept + len(known.requirements) + 1 - satisfied
    assert f"{left} more, at worst as here" in table.cells[-1][-1].note


def test_close_to_a_limit_the_numbers_do_not_look_alike():
    (one,) = limit_facts([Verdict("highest_risk", 0.09, 0.09001)], "nllm")
    assert one.verdict == "red"
    assert one.reached != one.allowed.removeprefix("at most ")


def test_figures_state_a_finding_and_can_be_read_aloud():
    release = shoal.anonymize(people(), plan())
    html = html_of()
    figures = re.findall(
        r'<div class="wide" role="img" aria-label="(.*?)"><svg.*?</svg></div>\s*'
        r"<figcaption>(.*?)</figcaption>",
        html,
        re.DOTALL,
    )
    assert len(figures) == html.count("<svg") >= 5
    for alt, caption in figures:
        assert len(alt) > 60
        assert re.search(r"\d", caption), caption
        assert re.search(r"\d", alt), alt
    unique = 100 * release.before.crowds[0][1] / 60
    assert release.before.crowds[0][0] == 1
    said = Seen(html).text.replace("\xa0", " ")
    assert f"{unique:.1f} % of the people of the original are unique" in said.replace(".0 %", " %")


def test_the_columns_that_single_out_are_named_without_values():
    html = html_of()
    section = html.partition("Columns that single people out</h2>")[2].partition("<section")[0]
    said = Seen(section).text
    assert "age" in said
    assert "city" in said
    for city in ("Aalborg", "Bergen", "Cadiz", "Delphi"):
        assert city not in said
    # A release by the recoding of another table has no such section: its original is not at hand.
    fitted = shoal.anonymize(people(), plan()).recoding
    applied = fitted.apply(people(seed=1))
    assert "Columns that single people out" not in render(page(facts(applied)))


def test_criteria_of_regulators_claim_nothing():
    html = html_of()
    section = Seen(
        html.partition("Criteria of regulators</h2>")[2].partition("<section")[0]
    ).text.replace("\xa0", " ")
    for piece in ("singling out", "linkability", "inference", "WP216", "45 CFR 164.514(b)(2)"):
        assert piece in section
    assert re.search(r"attack homogeneity, on disease \d+(\.\d+)? % of the records", section)
    assert "(A) names name is not published ✔ met" in section
    assert "GDPR" not in html
    assert "complian" not in html


def test_what_a_sensitive_column_reveals_is_on_both_pages():
    """It is not refused, so the approver has to know: the requirements do not account for it."""
    roles = {"density": "sensitive"}
    release = shoal.anonymize(dependent.people(), dependent.plan(roles))
    below = release.attacks["dependency"]["people_below"]
    least = release.attacks["dependency"]["fewest_left"]
    assert below > 20
    html = render(page(facts(release)))
    first, second = (Seen(one).text for one in front(html).split('<div class="front">'))
    assert re.search(r"fewer than 5 people (\(\d at the least\) )?are left to an attacker", first)
    few = replace(release.dependency, revealing=())
    said = f"For {below} of 500 people fewer than 5 people ({least} at the least) are left"
    known = replace(facts(release), findings=[], dependency=few)  # as if it were below 1 %
    assert said in Seen(render(page(known))).text
    assert "The requirements and limits do not account for unchanged columns" in second


def few(left):
    said = f"as few as {left} people are left" if left > 1 else "somebody is the only one left"
    return f"{said} (a risk of {100 / left:.3g} %)"


def test_the_headline_risk_says_what_the_other_columns_leave():
    """In the same sentence as the risk by the quasi-identifiers, and as a number of its own."""
    for roles, accept in (
        ({"density": "sensitive", "visits": "other"}, []),
        ({"density": "other"}, ["density"]),
    ):
        release = shoal.anonymize(dependent.people(), dependent.plan(roles, accept=accept))
        found = release.attacks["dependency"]
        left, known = found["fewest_left"], found["fewest_left_if_known"]
        assert left < 5
        first = Seen(front(render(page(facts(release)))).split('<div class="front">')[0]).text
        first = first.replace("\xa0", " ")
        risk = first.index("the re-identification risk is at most 20 %")
        said = (
            "If the attacker also uses the other published columns, "
            f"{few(left)}; with a code book for them, {few(known)}."
        )
        assert first.index(said) - risk < 200
        fewest = min(left, known)
        worst = rf"highest risk with the other published columns ?{100 / fewest:.3g} %"
        assert re.search(worst, first)
        assert "highest re-identification risk by the quasi-identifiers alone" in first


def test_the_headline_says_that_other_columns_leave_the_same():
    release = shoal.anonymize(dependent.people(), dependent.plan({"visits": "other"}))
    basic = facts(release)
    same, known = (replace(release.dependency, fewest_if_known=n) for n in (5, 2))
    assert same.fewest == 5
    for dependency, smallest, said in (
        (same, 5, "no fewer people are left, also with a code book for them."),
        (same, 7, "5 people or more are left, also with a code book for them."),
        (
            known,
            5,
            "no fewer people are left; with a code book for them, as few as 2 people are left "
            "(a risk of 50 %).",
        ),
        (replace(same, fewest_if_known=None), 5, "no fewer people are left."),
        (replace(same, fewest=None), 5, "leave fewer people was not measured."),
        (
            replace(same, columns={"disease": 0}),
            5,
            "also with a code book for them. That does not account for 1 unmeasured column.",
        ),
    ):
        changed = replace(basic, dependency=dependency, smallest=smallest)
        assert with_other_columns(changed).replace("\xa0", " ").endswith(said)
        assert lowers(changed) == ("as few as" in said)
    first = Seen(front(render(page(basic))).split('<div class="front">')[0]).text
    assert with_other_columns(basic) in first
    assert "by the quasi-identifiers alone" not in first
    bare = [one for one in basic.columns if one.role not in ("sensitive", "other")]
    assert with_other_columns(replace(basic, columns=bare)) == ""


def test_columns_that_reveal_together_are_shown_together():
    roles = dict.fromkeys(("lock", "key"), "sensitive")
    release = shoal.anonymize(dependent.people(), dependent.plan(roles))
    (pair,) = release.attacks["dependency"]["pairs"]
    text = Seen(render(page(facts(release)))).text
    assert f"lock and key together area {pair['people_below']}" in text


def test_criteria_are_about_the_attacker_who_finds_most():
    """The employer has the highest risk; the neighbour learns the value of everybody."""
    table = pa.table(
        {
            "job": ["a", "b", "c"] * 4,
            "street": ["x"] * 6 + ["y"] * 6,
            "s": ["flu"] * 6 + ["gout"] * 6,
        }
    )
    knows = {"employer": ["job"], "neighbour": ["street"]}
    asked = Plan(
        columns={"job": "quasi", "street": "quasi", "s": "sensitive"},
        attackers=[{"who": who, "knows": columns} for who, columns in knows.items()],
        models=[{"name": "k-anonymity", "k": 2}],
    )
    release = shoal.anonymize(table, asked)
    assert release.attacks["homogeneity"]["s"]["percent"] == 0  # of the employer
    said = Seen(render(page(facts(release)))).text.replace("\xa0", " ")
    assert "attack homogeneity, on s 100 % of the records, by attacker “neighbour”" in said
    assert "how sure an attacker can be of a sensitive value 100 %" in said


def test_what_a_code_book_would_give_away_is_amber():
    """Which ZIP codes are in a state is known to everybody, whatever the release shows."""
    release = shoal.anonymize(dependent.people(), dependent.plan({"visits": "other"}))
    known = facts(release)
    told = replace(release.dependency, if_known={"visits": 7})
    none = replace(told, if_known={"visits": 0})
    for dependency, verdict in ((told, "▲ amber"), (none, "✔ satisfied")):
        (row,) = [
            row
            for row in asked(replace(known, dependency=dependency)).cells
            if row[0].text.startswith("people for whom")
        ]
        assert row[-1].text == verdict
        assert ("With a code book for visits it would be 7 people." in row[-1].note) == (
            verdict == "▲ amber"
        )
    assert "Conditions" in front(render(page(known)))
