"""The dialogue: plain questions, each with a default; every answer can be revised.

It only needs a function that asks a question and returns a line, and one that shows a line: a
terminal, a connection, or a test.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import cast, get_args

from shoal.base.errors import BadInput, did_you_mean
from shoal.base.progress import Progress, silent
from shoal.base.wording import many, short
from shoal.flow.draft.draft import Draft, Examined, draft_k, people_of
from shoal.flow.draft.ranking import Ranking, rank_columns
from shoal.flow.setup.answers import Answers, decided, plan_of
from shoal.flow.setup.evidence import evidence
from shoal.table.roles import ROLES, Role

Ask = Callable[[str], str]  # raises EOFError at the end of the input
Say = Callable[[str], None]

# In this order; the first yes decides.
PERSON = "Does it name or number a person, a household or a record?"
TOGETHER = "Does it show which records belong to one person, and shall these stay together?"
KNOWN = "Could a neighbour, an employer or a website know this about a person?"
HARM = "Could it harm a person if this became known?"
NEEDED = "Does anybody need it in the release?"
UNREADABLE = "\ufffd"  # an answer without any letter, such as a cursor key, is not Enter
PEOPLE = "How many people must look alike at least (k)?"
HELP = (
    "Enter takes the answer in capitals or brackets; y or n answers the question.\n"
    f"A role decides at once: {ROLES}.\n"
    "b goes back, a accepts all proposals that are left, ? shows this, q quits and writes nothing."
)
MEANING: dict[Role, str] = {
    "identifier": "identifies a person, not published",
    "person": "keeps the records of a person together",
    "household": "says who lives together",
    "quasi": "outsiders may know it, generalized",
    "sensitive": "worth protecting, published unchanged",
    "weight": "people of the population per record, published unchanged",
    "other": "published unchanged",
    "drop": "left out",
}


ROLES_HELP = "\n".join(f"  {role}: {meaning}" for role, meaning in MEANING.items())


class Quit(BadInput):
    """The user left the dialogue."""


class _Back(Exception):
    """The user wants to answer the question before again."""


class _Rest(Exception):
    """The user accepts all proposals that are left."""


class _Decided(Exception):
    """The user named a role."""

    def __init__(self, role: Role) -> None:
        self.role = role


class Dialogue:
    """Questions about the columns of a table, one by one."""

    def __init__(self, examined: Examined, ask: Ask, say: Say, progress: Progress = silent) -> None:
        self._examined, self._ask, self._say = examined, ask, say
        self._names = examined.frame.names
        self._answers = Answers()
        self._ranking = _ranking(examined, progress)

    def run(self) -> tuple[Draft, Answers]:
        """Ask about everything, and return the plan once the user accepts the summary."""
        rows, columns = self._examined.frame.height, len(self._names)
        self._say(f"{many(rows, 'record')}, {many(columns, 'column')}.")
        self._say(HELP)
        place = 0  # the columns, then the requirements
        while True:
            try:
                self._ask_from(place)
                return self._accepted()
            except _Back:
                place = columns - 1  # from the summary or the requirements to the last column

    def _ask_from(self, place: int) -> None:
        while place < len(self._names):
            try:
                self._ask_column(place)
            except _Back:
                place = max(0, place - 1)
            except _Rest:
                for name in self._names[place:]:
                    self._keep(name, self._role(name))
                break
            else:
                place += 1
        self._ask_requirements()

    # Columns

    def _ask_column(self, place: int) -> None:
        """Ask about one column until its role is clear."""
        name = self._names[place]
        self._say(f"\n({place + 1} of {len(self._names)}) {short(name, 200)}")
        for line in evidence(self._examined, name, self._ranking):
            self._say(f"  {line}")
        try:
            role = self._decide(self._role(name))
        except _Decided as named:
            role = named.role
        self._keep(name, role)
        self._say(f"  → {role}: {MEANING[role]}")

    def _decide(self, default: Role) -> Role:
        """The role that follows from the answers; taking all defaults leads to the default."""
        if self._yes(PERSON, default in ("identifier", "person")):
            return "person" if self._yes(TOGETHER, default == "person") else "identifier"
        if self._yes(KNOWN, default == "quasi"):
            return "quasi"
        if self._yes(HARM, default == "sensitive"):
            return "sensitive"
        return "other" if self._yes(NEEDED, default != "drop") else "drop"

    def _yes(self, question: str, default: bool) -> bool:
        while True:
            word = self._line(f"  {question} [{'Y/n' if default else 'y/N'}] ")
            if not word:
                return default
            if word in ("y", "yes", "n", "no"):
                return word.startswith("y")
            if word == "a":
                raise _Rest
            if word in get_args(Role):
                raise _Decided(cast(Role, word))
            self._say(f"  {word!r} is no answer. {HELP}")

    def _role(self, name: str) -> Role:
        return decided(self._examined, name, self._answers).role

    def _keep(self, name: str, role: Role) -> None:
        self._answers = self._answers.with_role(name, role)

    # Requirements

    def _ask_requirements(self) -> None:
        self._say("")
        default = self._answers.k or draft_k(self._examined)
        k = self._number(PEOPLE, default, self._examined.frame.height)
        diversity = {}
        for name in self._names:
            values = self._examined.facts[name].distinct
            if self._role(name) == "sensitive" and values > 1:
                self._say(f"Groups in which all have the same {short(name)} give it away.")
                fewest = self._number(
                    f"How many different values of {short(name)} must a group have at least "
                    "(0: no requirement)?",
                    self._answers.diversity.get(name, 0),
                    values,
                    nothing=True,
                )
                if fewest:
                    diversity[name] = fewest
        self._answers = replace(self._answers, k=k, diversity=diversity)

    def _number(self, question: str, default: int, most: int, nothing: bool = False) -> int:
        """A number from 2 to `most`, or 0 for nothing."""
        while True:
            word = self._line(f"{question} [{default}] ")
            if not word:
                return default
            if word.isascii() and word.isdecimal() and len(word) < 10:
                number = int(word)
                if 2 <= number <= most or (nothing and number == 0):
                    return number
            also = "0, or " if nothing else ""
            self._say(f"  {word!r} is no answer: {also}a number from 2 to {most:,}.")

    # Summary

    def _accepted(self) -> tuple[Draft, Answers]:
        """Show the summary until the user accepts it; a column can be named to change it."""
        while True:
            self._summarize()
            draft = self._plan()
            word = self._line(
                "Write the plan? [Y], or the number or name of a column to change it, k for the "
                "requirements, b, q "
            )
            if word in ("", "y", "yes"):
                if draft is not None:
                    return draft, self._answers
                continue
            with suppress(_Back, _Rest):  # then the answers stay as they are
                if word == "k":
                    self._ask_requirements()
                elif (place := self._place(word)) is not None:
                    self._ask_column(place)
                    self._forget_diversity()

    def _plan(self) -> Draft | None:
        """The plan of the answers; None if they do not fit together, which is shown."""
        try:
            draft = plan_of(self._examined, self._answers)
        except BadInput as error:
            self._say(f"This cannot be a plan yet: {error}")
            return None
        for remark in draft.plan.remarks:
            self._say(f"Note: {remark}")
        return draft

    def _summarize(self) -> None:
        self._say("\nSummary")
        width = max(len(short(name)) for name in self._names)
        for place, name in enumerate(self._names, start=1):
            role = self._role(name)
            changed = "" if role == self._examined.guesses[name].role else " (changed by you)"
            self._say(f"  {place:>3}  {short(name):<{width}}  {role}: {MEANING[role]}{changed}")
        self._say(f"  At least {self._answers.k} people look alike.")
        for name, fewest in self._answers.diversity.items():
            self._say(f"  Each group has at least {fewest} different values of {short(name)}.")

    def _place(self, word: str) -> int | None:
        """The column that was named, by its number or its name; None if there is none."""
        folded = [name.strip().lower() for name in self._names]
        if word in folded:
            return folded.index(word)
        if word.isascii() and word.isdecimal() and len(word) < 10:
            place = int(word) - 1
            if 0 <= place < len(self._names):
                return place
        self._say(f"There is no column {word!r}{did_you_mean(word, self._names)}")
        return None

    def _forget_diversity(self) -> None:
        """Drop the requirements of columns that are no longer sensitive."""
        kept = {
            name: fewest
            for name, fewest in self._answers.diversity.items()
            if self._role(name) == "sensitive"
        }
        self._answers = replace(self._answers, diversity=kept)

    def _line(self, question: str) -> str:
        """A line of the user in lower case; the words that work everywhere are handled here."""
        while True:
            try:
                typed = self._ask(question)
            except EOFError:
                raise Quit(
                    "the input ended before the plan was accepted; nothing was written"
                ) from None
            typed = typed.removeprefix("\ufeff").strip()  # a file of lines may begin with a mark
            word = "".join(c for c in typed if c.isprintable()).strip().lower()
            if typed and not word:
                return UNREADABLE
            if word in ("q", "quit"):
                raise Quit("left without writing anything")
            if word in ("b", "back"):
                raise _Back
            if word not in ("?", "help"):
                return word
            self._say(f"{HELP}\n{ROLES_HELP}")


def _ranking(examined: Examined, progress: Progress) -> Ranking | None:
    """The ranking of the proposed quasi-identifiers; None if there are none."""
    guesses = examined.guesses
    quasi = [examined.facts[n] for n in examined.frame.names if guesses[n].role == "quasi"]
    people = people_of(examined, guesses)
    return rank_columns(quasi, people, lambda share: progress("rank", share)) if quasi else None
