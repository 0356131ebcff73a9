"""The history of a plan."""

from __future__ import annotations

from shoal.studio.history import MOST, MOST_BYTES, MOST_TEXT, History


def test_steps_can_be_undone_and_redone() -> None:
    history = History()
    for text in "abc":
        history.add(text)
    assert (history.text, history.can_undo, history.can_redo) == ("c", True, False)
    history.undo()
    history.undo()
    history.undo()  # there is nothing before the first
    assert (history.text, history.can_undo, history.can_redo) == ("a", False, True)
    history.redo()
    assert history.text == "b"
    history.add("d")  # what was undone is forgotten
    history.redo()
    assert (history.texts, history.text) == (["a", "b", "d"], "d")


def test_the_same_plan_is_no_step() -> None:
    history = History()
    history.add("a")
    history.add("a")
    assert history.texts == ["a"]


def test_versions_differ_between_steps() -> None:
    history = History()
    found = set()
    for text in ("a", "b", "a"):
        history.add(text)
        found.add(history.version)
    assert len(found) == 3


def test_old_steps_are_forgotten() -> None:
    history = History()
    for i in range(MOST + 10):
        history.add(str(i))
    assert len(history.texts) == MOST
    assert history.text == str(MOST + 9)


def test_large_plans_take_limited_space_and_the_last_step_can_be_undone() -> None:
    history = History()
    for i in range(10):
        history.add(str(i) + "x" * (MOST_BYTES // 4))
        assert sum(map(len, history.texts)) <= MOST_BYTES
    assert [text[0] for text in history.texts] == ["7", "8", "9"]
    assert history.text[0] == "9"
    history.add("a" + "\u00e4" * MOST_BYTES)  # larger than the limit by itself
    assert [text[0] for text in history.texts] == ["9", "a"]
    history.undo()
    assert history.text[0] == "9"
    history.add("b")
    assert [text[0] for text in history.texts] == ["9", "b"]


def plan(role: str = "quasi", k: int = 5, more: str = "") -> str:
    return f"""
[columns]
age = {{ role = "{role}", hierarchy = {{ ranges = [5, 10] }} }}  # a comment is no step
[[models]]
name = "k-anonymity"
k = {k}
{more}"""


def test_undo_and_redo_say_what_they_change() -> None:
    history = History()
    assert history.undo_words == history.redo_words == ""
    for text in (plan(), plan("sensitive"), plan("sensitive", 7)):
        history.add(text)
    assert (history.undo_words, history.redo_words) == ("k-anonymity k: 7 → 5", "")
    history.undo()
    assert history.undo_words == "age role: sensitive → quasi"
    assert history.redo_words == "k-anonymity k: 5 → 7"
    history.add(plan("sensitive", 5, '[[models]]\nname = "t-closeness"\ncolumn = "pay"\nt = 0.2'))
    assert history.undo_words == "− t-closeness (pay)"
    history.undo()
    assert history.redo_words == "+ t-closeness (pay)"


def test_the_default_algorithm_is_no_change_by_itself() -> None:
    peel = '[algorithm]\nname = "peel"'
    assert History([plan(), plan(k=7, more=peel)], 1).undo_words == "k-anonymity k: 7 → 5"
    assert History([plan(), plan(more=peel)], 1).undo_words == "name: peel → –"


def test_plans_that_cannot_be_compared_give_no_words() -> None:
    history = History()
    for text in ("not a plan", "no plan either", "[columns]\n" + "x" * MOST_TEXT):
        history.add(text)
        assert history.undo_words == ""
    history = History(["seed = 1", "seed = 1 # a comment"], 1)
    assert history.undo_words == ""


def test_of_a_hierarchy_only_the_column_is_named() -> None:
    history = History([plan(), plan().replace("[5, 10]", "[5, 20]")], 1)
    assert history.undo_words == "age hierarchy"


def test_a_long_value_is_shortened() -> None:
    history = History(["", f'[about]\ntitle = "{"x" * 100}"'], 1)
    assert history.undo_words == f"title: {'x' * 39}… → –"
