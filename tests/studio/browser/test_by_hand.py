"""Hierarchies by hand: values are dragged into groups, and borders are moved on a histogram."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from tests.studio.browser.conftest import PATIENCE, Pages, expect
from tests.studio.served import Served

AGE, JOB = 0, 1  # the places of the columns


class Column:
    """The page of a column, and what the plan says about it."""

    def __init__(self, page: Any, served: Served, project: str, name: str) -> None:
        self.page, self.served, self.project, self.name = page, served, project, name

    @property
    def setting(self) -> Any:
        plan = tomllib.loads(self.served.get(f"{self.project}/plan.toml").text)
        return plan["columns"][self.name].get("hierarchy")

    def row(self, label: str) -> Any:
        box = self.page.get_by_role("checkbox", name=f"Select {label}", exact=True)
        return self.page.locator("#tree .node", has=box)

    def drag(self, what: Any, into: Any) -> None:
        """Drag, and wait for the tree of the plan that follows."""
        tree = self.page.locator("#tree")
        before = tree.get_attribute("data-version")
        what.locator(".label").drag_to(into)
        self.page.locator(f'#tree:not([data-version="{before}"])').wait_for()

    def border(self, at: float) -> Any:
        return self.page.locator(f'.handle[aria-valuenow="{at:g}"]')

    def until(self, setting: Any) -> None:
        """Wait for the page of a plan that has this hierarchy."""
        for _ in range(PATIENCE // 100):
            if self.setting == setting:
                return
            self.page.wait_for_timeout(100)
        assert self.setting == setting


def quasi(pages: Pages, served: Served, project: str, place: int, **kind: Any) -> Any:
    """The page of a quasi-identifier with a hierarchy of this kind."""
    address = f"{project}/columns/{place}"
    assert served.ask("POST", f"{address}/role", "role=quasi").status == 303
    for what, body in kind.items():
        answer = served.ask("POST", f"{address}/hierarchy/{what}", body)
        assert answer.status == 303, answer.text
    return pages(f"{address}/hierarchy")


@pytest.fixture
def job(pages: Pages, studio: Served, people: str) -> Column:
    """Four jobs, of which two are in a group."""
    page = quasi(
        pages, studio, people, JOB, kind="kind=flat", groups="step=start",
        levels="table=baker;food;*%0Acook;food;*&fill=1",
    )  # fmt: skip
    return Column(page, studio, people, "job")


@pytest.fixture
def age(pages: Pages, studio: Served, people: str) -> Column:
    """Ages from 20 to 79, cut at three borders, of which a second level keeps one."""
    page = quasi(
        pages, studio, people, AGE, kind="kind=borders&level=30,45,60&level=45"
    )  # fmt: skip
    return Column(page, studio, people, "age")


def test_values_are_dragged_into_a_group_and_out_of_it(job: Column) -> None:
    assert job.setting == {"tree": {"*": {"food": ["baker", "cook"], "doctor": [], "nurse": []}}}
    job.drag(job.row("nurse"), job.row("food"))
    assert job.setting == {"tree": {"*": {"food": ["baker", "cook", "nurse"], "doctor": []}}}
    job.drag(job.row("cook"), job.page.locator("#tree .node.root"))
    assert job.setting == {"tree": {"*": {"food": ["baker", "nurse"], "cook": [], "doctor": []}}}
    job.page.get_by_role("button", name="Undo").click()
    job.until({"tree": {"*": {"food": ["baker", "cook", "nurse"], "doctor": []}}})


def test_all_that_is_selected_is_dragged_together(job: Column) -> None:
    for label in ("doctor", "nurse"):
        job.row(label).locator(".label").click()
    expect(job.page.locator("[data-selected]")).to_have_text("2 selected")
    job.page.get_by_label("Group", exact=True).fill("health")
    job.page.get_by_role("button", name="Put together").click()
    job.row("health").wait_for()
    health = {"tree": {"*": {"food": ["baker", "cook"], "health": ["doctor", "nurse"]}}}
    assert job.setting == health
    for label in ("cook", "baker"):
        job.row(label).locator(".label").click()
    job.drag(job.row("cook"), job.row("health"))
    assert job.setting == {"tree": {"*": {"health": ["baker", "cook", "doctor", "nurse"]}}}


def test_a_border_is_dragged_and_another_one_added(age: Column) -> None:
    plot = age.page.locator("svg.cut").bounding_box()
    year = plot["width"] / (480 + 24) * 480 / 60  # pixels
    handle = age.border(30).locator("circle").bounding_box()
    x, y = handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2
    age.page.mouse.move(x, y)
    age.page.mouse.down()
    age.page.mouse.move(x + 2 * year, y, steps=4)
    assert age.setting == {"borders": [[30, 45, 60], [45]]}  # not yet: one drag is one step
    age.page.mouse.move(x + 5 * year, y, steps=4)
    age.page.mouse.up()
    age.until({"borders": [[35, 45, 60], [45]]})
    age.page.locator("svg.cut").dblclick(
        position={"x": plot["width"] / (480 + 24) * (12 + 480 * 50 / 60), "y": 20}
    )
    age.until({"borders": [[35, 45, 60, 70], [45]]})
    age.page.get_by_role("button", name="Undo").click()
    age.until({"borders": [[35, 45, 60], [45]]})
    expect(age.border(70)).to_have_count(0)


def test_borders_are_moved_by_the_keyboard(age: Column) -> None:
    """The focus stays on its border: past another one, and when the server has answered."""
    page = age.page
    age.border(30).focus()
    for key in ("ArrowRight", "ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
    age.until({"borders": [[45, 51, 60], [45]]})
    page.locator("#tree", has_text="[51, 60)").wait_for()
    expect(focused(page)).to_have_attribute("aria-valuetext", "51 (1)")
    page.keyboard.press("ArrowUp")  # the coarser level keeps it too
    age.until({"borders": [[45, 51, 60], [45, 51]]})
    page.locator("#example", has_text="<45").wait_for()
    expect(focused(page)).to_have_attribute("aria-valuetext", "51 (2)")
    page.keyboard.press("Delete")
    age.until({"borders": [[45, 60], [45]]})
    page.locator("#tree", has_text="[45, 60)").wait_for()
    expect(focused(page)).to_have_attribute("aria-valuetext", "60 (1)")


def focused(page: Any) -> Any:
    return page.locator(":focus")
