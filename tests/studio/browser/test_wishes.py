"""Requirements and comparisons in a browser: sliders, the preview, ways out, and pictures."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.studio.browser.axe import violations
from tests.studio.browser.conftest import TELEPHONE, Pages, expect
from tests.studio.served import Served


@pytest.fixture(scope="module")
def own(studio: Served) -> str:
    """A project that only these tests change."""
    return studio.opened()


@pytest.fixture
def wishes(pages: Pages, own: str) -> Any:
    page = pages(f"{own}/requirements")
    page.locator("#preview[data-version]").wait_for()
    return page


def k_of(page: Any) -> Any:
    return page.get_by_role("spinbutton", name=re.compile("^k "))


def settled(page: Any, before: str | None) -> str:
    """Wait for the preview of another plan; its version."""
    page.locator(f'#preview[data-version]:not([data-version="{before}"])').wait_for()
    return str(page.locator("#preview").get_attribute("data-version"))


def test_a_slider_moves_the_number_and_the_preview(wishes: Any) -> None:
    page = wishes
    before = page.locator("#preview").get_attribute("data-version")
    slider = page.get_by_role("slider").first
    slider.focus()
    for _ in range(4):  # quickly: they must not look like changes of another tab
        page.keyboard.press("ArrowRight")
    expect(page.locator(".sentence").first).to_contain_text("at least 8 other people")
    expect(k_of(page)).to_have_value("9")
    settled(page, before)
    expect(page.locator("#status")).to_contain_text("highest risk")
    expect(page.locator("#model-0-k-slider")).to_be_focused()
    assert page.locator(".error").count() == 0


def test_steps_that_follow_quickly_are_all_made(wishes: Any) -> None:
    """Each change waits for the one before it, also those of different forms."""
    page = wishes
    k_of(page).fill("7")
    k_of(page).press("Enter")
    page.locator("#limit-preset").select_option("cells-5")
    page.locator(".verdict").first.wait_for()
    expect(k_of(page)).to_have_value("7")
    expect(page.locator("#limit-preset")).to_have_value("cells-5")
    assert page.get_by_text("another tab").count() == 0
    page.locator("#limit-preset").select_option("")
    page.locator(".verdict").first.wait_for(state="detached")


def test_a_model_is_added_and_an_impossible_wish_resolved(wishes: Any) -> None:
    page = wishes
    page.get_by_text("Add a requirement", exact=True).click()
    page.get_by_role("button", name="Add distinct-l-diversity").click()
    field = page.locator("#model-1-l")
    field.fill("500")
    field.press("Enter")
    mistake = page.locator("#mistake-model-1 .error")
    mistake.wait_for()
    expect(mistake).to_contain_text("cannot be reached")
    mistake.get_by_role("button", name=re.compile("instead")).click()
    mistake.wait_for(state="detached")
    assert int(page.locator("#model-1-l").input_value()) < 500
    assert page.locator("#add-model").evaluate("one => one.open")  # what was opened stays open
    page.get_by_role("button", name="Remove distinct-l-diversity[diagnosis]").click()
    page.locator("#model-1-l").wait_for(state="detached")


def test_a_point_of_the_frontier_is_chosen_in_the_picture(wishes: Any) -> None:
    page = wishes
    page.get_by_text("What does more protection cost?").click()
    page.locator("#frontier-k").fill("3, 6, 12")
    page.locator("#frontier-start").click()
    point = page.locator("svg.frontier a", has_text="k = 12")
    point.wait_for()
    expect(page.locator("#frontier-start")).to_be_visible()  # it is done: the picture stays
    point.focus()
    page.keyboard.press("Enter")
    page.locator("tr.is-own", has_text="k = 12").wait_for()
    expect(k_of(page)).to_have_value("12")


def test_what_is_typed_is_not_lost(wishes: Any) -> None:
    """An answer to another form does not replace a field that is being written in."""
    page = wishes
    page.get_by_text("About this release").click()
    before = page.locator("#preview").get_attribute("data-version")
    k_of(page).fill("4")
    k_of(page).press("Enter")
    page.locator("#about-owner").press_sequentially("Clinic of Springfield", delay=15)
    settled(page, before)
    expect(page.locator("#about-owner")).to_have_value("Clinic of Springfield")
    expect(page.locator("#about-owner")).to_be_focused()


def test_a_comparison_is_stopped(pages: Pages, own: str) -> None:
    page = pages(f"{own}/compare")
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Compare", exact=True).wait_for()
    assert page.locator("#compare .error").count() == 0


@pytest.mark.parametrize("step", ["requirements", "compare"])
def test_with_everything_open_it_fits_a_telephone(pages: Pages, own: str, step: str) -> None:
    page = pages(f"{own}/{step}")
    page.set_viewport_size(TELEPHONE)
    page.locator("main h1").wait_for()
    if step == "requirements":
        page.locator("#preview[data-version]").wait_for()
    for fold in page.locator("details").all():
        fold.evaluate("one => { one.open = true; }")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_what_is_folded_is_accessible_too(pages: Pages, own: str) -> None:
    """With attackers, a mistake, verdicts and pictures on the page, and everything open."""
    page = pages(f"{own}/requirements", bypass_csp=True)
    page.locator("#preview[data-version]").wait_for()
    page.get_by_text("Who attacks").click()
    page.get_by_role("button", name="Add an attacker").click()
    page.locator("table.key-sets").wait_for()
    page.locator("#limit-preset").select_option("cells-20")
    page.locator(".verdict.red").wait_for()
    page.locator(".key-sets input[type=checkbox]").first.uncheck()
    page.locator("#mistake-attackers .error").wait_for()
    for fold in page.locator("details").all():
        fold.evaluate("one => { one.open = true; }")
    assert violations(page) == ""
    page.locator("#mistake-attackers").get_by_role(
        "button", name=re.compile("one attacker")
    ).click()
    page.locator("table.key-sets").wait_for(state="detached")
    page.locator("#limit-preset").select_option("")
    page.locator(".verdict").first.wait_for(state="detached")
