"""The section about what an attacker sees of single classes."""

from __future__ import annotations

from shoal.base.wording import MISSING, many, short
from shoal.measures.breakdowns.attacker_view import AttackerView, Knowledge, sensitive_words
from shoal.measures.breakdowns.view_source import SMALLEST, SURPRISING
from shoal.report.facts import Facts
from shoal.report.page import Block, Bullets, Cell, Heading, HtmlTable, Text, Tone
from shoal.report.sections._labels import DESCRIBED

SHOWN = 12  # pieces of knowledge per class
TITLES = {
    SMALLEST: "The smallest class",  # of several, the one that differs most
    SURPRISING: "The class whose sensitive values differ most from the table",
}


def attacker_views(facts: Facts) -> list[Block]:
    """Two classes as an attacker sees them."""
    if not facts.views:
        return []
    blocks: list[Block] = [Text(_ABOUT)]
    for name, view in facts.views.items():
        blocks += [Heading(TITLES[name]), *_view(view)]
    return blocks


def _view(view: AttackerView) -> list[Block]:
    who = "An attacker" if view.attacker is None else f"The attacker {short(view.attacker)}"
    said = [f"{who} sees: {_published(view)}.", f"{view.who_else}."]
    said += [f"{short(one.column)}: {sensitive_words(one)}." for one in view.sensitive]
    rows: list[list[Cell | str]] = [_row(one, view) for one in view.key_knowledge[:SHOWN]]
    found: list[Block] = [Bullets([*said, *(f"{_upper(line)}." for line in view.conclusions)])]
    if rows:
        found.append(
            HtmlTable(
                ["if the attacker also knew", "precision", "people left", "alone"],
                rows,
                _caption(view),
                widths=(34, 32, 17, 17),
            )
        )
    return found


def _row(one: Knowledge, view: AttackerView) -> list[Cell | str]:
    tone: Tone = "bad" if one.alone else "mixed" if one.below else ""
    return [
        short(one.column),
        one.precision or "as published",
        Cell(_span(one, view), tone=tone),
        Cell(f"{one.alone:,}" if one.alone else "–", tone="bad" if one.alone else ""),
    ]


def _span(one: Knowledge, view: AttackerView) -> str:
    """How many people are left, of how many."""
    span = f"{one.fewest:,}" if one.fewest == one.most else f"{one.fewest:,} to {one.most:,}"
    of = view.people if not one.precision or view.among is None else view.among
    return f"{span} of {of:,}"


def _caption(view: AttackerView) -> str:
    most = min(view.key_knowledge, key=lambda one: (one.fewest, -one.alone, one.most))
    rest = len(view.key_knowledge) - SHOWN
    verb = "is" if rest == 1 else "are"
    more = f" {many(rest, 'more line')} {verb} not shown." if rest > 0 else ""
    what = f"{short(most.column)} ({most.precision})" if most.precision else short(most.column)
    alone = f", and {many(most.alone, 'person', 'people')} alone" if most.alone else ""
    return (
        f"Knowing {what} would reveal most: it would leave {_span(most, view)} people{alone}. For "
        "each column there is the exact value, and the coarsest precision that would leave "
        f"somebody among fewer people than required.{more}"
    )


def _published(view: AttackerView) -> str:
    words = [
        f"{short(name, 24)} {MISSING if value is None else short(value, 32)}"
        for name, value in view.published.items()
    ]
    more = f" and {len(words) - DESCRIBED} more" if len(words) > DESCRIBED else ""
    return ", ".join(words[:DESCRIBED]) + more


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


_ABOUT = (
    "Two classes as examples: what an attacker sees who finds a person there, how many people it "
    "could be, and what the attacker would have to know in addition to tell them apart. Counted on "
    "the original; its values are not shown. `shoal audit --class N` shows any other class."
)
