"""The history of a plan."""

from __future__ import annotations

from shoal.studio.history import MOST, MOST_BYTES, History


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
