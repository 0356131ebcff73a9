"""The dialogue of `shoal setup`, with answers from a list."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.flow.draft.draft import examine
from shoal.flow.setup.dialogue import HARM, KNOWN, NEEDED, PERSON, Dialogue, Quit

ROWS = 120


def people() -> pa.Table:
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "name": [f"Ann Bell{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(ROWS)],
            "age": rng.integers(20, 70, ROWS),
            "town": rng.choice(["Aalborg", "Bergen", "Cadiz"], ROWS),
            "disease": rng.choice(["flu", "gout", "asthma"], ROWS),
        }
    )


class Talk:
    """A user who types these lines, and what was shown."""

    def __init__(self, *lines: str) -> None:
        self.lines, self.shown = list(lines), []

    def ask(self, question: str) -> str:
        self.shown.append(question)
        if not self.lines:
            raise EOFError
        return self.lines.pop(0) + "\n"

    def run(self, table: pa.Table | None = None):
        found = Dialogue(examine(people() if table is None else table), self.ask, self.shown.append)
        return found.run()

    @property
    def text(self) -> str:
        return "\n".join(self.shown)


def roles(plan) -> list[str]:
    return [column.role for column in plan.columns.values()]


def test_defaults_lead_to_the_draft():
    talk = Talk(*[""] * 30)
    draft, answers = talk.run()
    drafted = shoal.draft(people())
    assert roles(draft.plan) == roles(drafted) == ["identifier", "quasi", "quasi", "sensitive"]
    assert draft.plan.to_toml() == drafted.to_toml()
    assert answers.roles.keys() == drafted.columns.keys()
    assert (
        "Could a neighbour, an employer or a website know this about a person? [Y/n]" in talk.text
    )
    assert "(4 of 4) disease" in talk.text
    assert "Summary" in talk.text


def test_evidence_is_shown_but_no_rare_value():
    talk = Talk("a", *[""] * 9)
    talk.run()
    shown = talk.text
    assert "120 different values; none of them in 5 records or more" in shown
    assert "Ann Bell" not in shown
    talk = Talk(*[""] * 30)
    talk.run()
    assert "most frequent: " in talk.text
    assert "Bergen (" in talk.text
    assert "unique by all columns that outsiders may know" in talk.text


def test_answers_decide():
    # name: dropped; age: not known, harmful; town: quasi; disease: nobody needs it.
    lines = ["n", "n", "n", "n", "n", "n", "y", "n", "y", "n", "n", "n", "n", "7", "", "y"]
    draft, answers = Talk(*lines).run()
    assert roles(draft.plan) == ["drop", "sensitive", "quasi", "drop"]
    assert draft.plan.models[0].k == 7
    assert answers.k == 7
    assert draft.plan.notes["age"] == "your answer"
    assert draft.plan.columns["age"].hierarchy is None


def test_a_role_can_be_named_and_an_answer_revised():
    # b at the second column goes back to the first one.
    lines = ["drop", "b", "identifier", "quasi", "other", "sensitive", "", "2", "y"]
    draft, answers = Talk(*lines).run()
    assert roles(draft.plan) == ["identifier", "quasi", "other", "sensitive"]
    assert answers.diversity == {"disease": 2}
    assert [model.name for model in draft.plan.models] == ["k-anonymity", "distinct-l-diversity"]


def test_back_on_the_first_column_and_from_the_requirements():
    lines = ["b", "identifier", "quasi", "quasi", "sensitive", "b", "drop", "5", ""]
    draft, _ = Talk(*lines).run()
    assert roles(draft.plan) == ["identifier", "quasi", "quasi", "drop"]


def test_the_summary_can_change_every_answer():
    lines = ["a", "", "3", "town", "drop", "4", "other", "k", "9", "2", "b", ""]
    draft, answers = Talk(*lines).run()
    assert roles(draft.plan) == ["identifier", "quasi", "drop", "other"]
    assert answers.k == 9
    assert answers.diversity == {}  # disease is no longer sensitive
    assert "town" in draft.plan.notes


def test_answers_that_do_not_fit_together_are_not_accepted():
    lines = ["a", "", "", "2", "drop", "3", "drop", "y", "3", "quasi", "y"]
    talk = Talk(*lines)
    draft, _ = talk.run()
    assert "This cannot be a plan yet: no column can be known" in talk.text
    assert roles(draft.plan) == ["identifier", "drop", "quasi", "sensitive"]


def test_two_people_columns_are_not_accepted():
    talk = Talk("person", "person", "quasi", "other", "", "y", "2", "quasi", "y")
    draft, _ = talk.run()
    assert "one person column" in talk.text
    assert roles(draft.plan) == ["person", "quasi", "quasi", "other"]


@pytest.mark.parametrize("typed", ["\x1b", "\udcff\udcfe", "\x00"])
def test_a_line_without_readable_characters_is_not_the_default(typed):
    talk = Talk(typed)
    with pytest.raises(Quit):
        talk.run()
    assert talk.text.count(PERSON) == 2
    assert "is no answer" in talk.text


def test_nonsense_and_help_are_answered():
    talk = Talk(
        *("maybe", "?", "\x1b[2Jx", "a", "x", "1", "99999999999", "", "", "nothing", "0", "17", "")
    )
    talk.run()
    assert "'maybe' is no answer" in talk.text
    assert talk.text.count("A role decides at once") >= 3
    assert "'x' is no answer: a number from 2 to 120" in talk.text
    assert "There is no column 'nothing'" in talk.text
    assert "There is no column '0'" in talk.text
    assert "\x1b" not in talk.text


@pytest.mark.parametrize(
    "lines", [[], ["", ""], ["a"], ["a", "", ""], ["q"], ["a", "", "", "quit"]]
)
def test_the_end_of_the_input_and_quit_leave_the_dialogue(lines):
    with pytest.raises(Quit):
        Talk(*lines).run()


def test_the_questions_are_asked_in_this_order():
    talk = Talk("n", "n", "n", "y", "a", "", "", "")
    draft, _ = talk.run()
    places = [talk.text.index(question) for question in (PERSON, KNOWN, HARM, NEEDED)]
    assert places == sorted(places)
    assert roles(draft.plan)[0] == "other"


def test_labels_and_dependencies_are_evidence(tmp_path):
    table = people().append_column(
        "decade", pa.array([age // 10 for age in people()["age"].to_pylist()])
    )
    talk = Talk(*[""] * 30)
    draft, _ = talk.run(table)
    assert "It follows from age: drop it or it gives age back." in talk.text
    assert "decade follows from it, and would give it back." in talk.text
    assert draft.plan.columns["decade"].role == "drop"


def test_a_doubt_about_numbers_or_dates_is_shown():
    table = pa.table({"age": [30, 31] * 60, "seen": ["01/02/2024", "05/06/2024"] * 60})
    talk = Talk("quasi")
    with pytest.raises(Quit):
        talk.run(table)
    assert "In doubt: '01/02/2024' is 2024-02-01 (date_format = '%d/%m/%Y') or" in talk.text
