"""Files of answers."""

from __future__ import annotations

import pytest

from shoal import BadFile, BadPlan, Plan
from shoal.flow.draft.draft import examine
from shoal.flow.setup.answers import Answers, plan_of, read_answers, save, text_of
from tests.flow.setup.test_dialogue import people, roles


def test_answers_are_read_as_they_were_written(tmp_path):
    answers = Answers({"name": "identifier", 'a "b"\n': "drop", "x": "sensitive"}, 7, {"x": 3})
    path = tmp_path / "answers.toml"
    path.write_text(text_of(answers))
    assert read_answers(path) == answers
    path.write_text(text_of(Answers()))
    assert read_answers(path) == Answers()


def test_the_plan_of_answers():
    draft = plan_of(examine(people()), Answers({"town": "drop"}, 4, {"disease": 2}))
    assert roles(draft.plan) == ["identifier", "quasi", "drop", "sensitive"]
    assert [model.setting() for model in draft.plan.models] == [
        {"name": "k-anonymity", "k": 4},
        {"name": "distinct-l-diversity", "column": "disease", "l": 2},
    ]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("kk = 3", "unknown answer 'kk'"),
        ("k = 1", "2 or more"),
        ("k = true", "2 or more"),
        ('columns = "quasi"', r"\[columns\]"),
        ('[columns]\nage = "quazi"', "roles are"),
        ("[diversity]\nage = 1", "diversity of 'age'"),
        ("k = ", "not a file of answers"),
        ("\xff", "not a file of answers"),
    ],
)
def test_mistakes_in_the_file_are_named(written, said, tmp_path):
    path = tmp_path / "answers.toml"
    path.write_text(written, encoding="latin-1")
    with pytest.raises(BadFile, match=said):
        read_answers(path)


@pytest.mark.parametrize(
    ("answers", "error", "said"),
    [
        (Answers({"agee": "quasi"}), BadFile, "did you mean 'age'"),
        (Answers({}, None, {"age": 2}), BadPlan, "for sensitive columns"),
        (Answers({"age": "drop", "town": "drop"}), BadPlan, "nothing to generalize"),
        (Answers({"age": "person", "name": "person"}), BadPlan, "person column"),
    ],
)
def test_answers_that_do_not_fit_the_table(answers, error, said):
    with pytest.raises(error, match=said):
        plan_of(examine(people()), answers)


def test_plan_and_answers_are_written_both_or_not_at_all(tmp_path):
    draft = plan_of(examine(people()), Answers())
    with pytest.raises(BadFile):
        save(draft.plan, tmp_path / "none" / "plan.toml", Answers(), tmp_path / "answers.toml")
    assert list(tmp_path.iterdir()) == []
    save(draft.plan, tmp_path / "plan.toml", Answers(), tmp_path / "answers.toml")
    assert Plan.load(tmp_path / "plan.toml").columns.keys() == draft.plan.columns.keys()
    assert (tmp_path / "answers.toml").is_file()
