"""History: plans that can be undone and redone."""

from __future__ import annotations

from dataclasses import dataclass, field

MOST = 200  # steps that are kept
MOST_BYTES = 10_000_000  # of all of them: a plan may contain large hierarchies


@dataclass
class History:
    """Texts of plans, in the order in which they were made."""

    texts: list[str] = field(default_factory=list)
    place: int = -1  # of the current one

    @property
    def text(self) -> str:
        """The current plan."""
        return self.texts[self.place]

    @property
    def version(self) -> str:
        """What changes with every step: a page that shows another one is out of date."""
        return f"{self.place}-{hash(self.text) & 0xFFFFFFFF:08x}"

    def add(self, text: str) -> None:
        """Make a step; what was undone is forgotten."""
        if self.texts and text == self.text:
            return
        self.texts = _newest([*self.texts[: self.place + 1], text])
        self.place = len(self.texts) - 1

    @property
    def can_undo(self) -> bool:
        """Whether there is a step before."""
        return self.place > 0

    @property
    def can_redo(self) -> bool:
        """Whether there is a step after."""
        return self.place < len(self.texts) - 1

    def undo(self) -> None:
        """Go back one step, if there is one."""
        self.place -= self.can_undo

    def redo(self) -> None:
        """Go forward one step, if there is one."""
        self.place += self.can_redo


def _newest(texts: list[str]) -> list[str]:
    """The last texts that are not too many and not too large; at least one step can be undone."""
    size, kept = 0, 0
    for text in reversed(texts[-MOST:]):
        size += len(text.encode())
        if size > MOST_BYTES and kept >= 2:
            break
        kept += 1
    return texts[-kept:]
