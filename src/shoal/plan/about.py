"""What the report says about a release besides its numbers: the table `[about]` of a plan."""

from __future__ import annotations

import datetime
from typing import Any, ClassVar

from pydantic import Field, field_validator

from shoal.base.errors import brief
from shoal.base.settings import Setting

LONG = 1000  # characters of a text: page one of a report has to fit on one page
SIGNERS = 6  # that fit on page two


class About(Setting):
    """Who publishes a table, for what and for whom; it changes nothing but the report."""

    name: ClassVar[str] = "[about]"

    title: str | None = None
    owner: str | None = None
    purpose: str | None = None
    recipient: str | None = None
    contact: str | None = None
    date: str | None = None  # of the request or the decision, as the report shows it
    signers: list[str] = Field(default_factory=list)  # one line to sign on for each

    @field_validator("date", mode="before")
    @classmethod
    def _date(cls, given: Any) -> Any:
        """TOML has dates; the report shows them as they are written."""
        return given.isoformat() if isinstance(given, datetime.date) else given

    @field_validator("signers", mode="before")
    @classmethod
    def _signers(cls, given: Any) -> Any:
        given = [given] if isinstance(given, str) else given
        if not isinstance(given, list | tuple) or not all(isinstance(one, str) for one in given):
            raise ValueError(f"needs signers as a list of texts, got {brief(given)}")
        if len(given) > SIGNERS:
            raise ValueError(
                f"has {len(given)} signers, and the page to sign has room for {SIGNERS}"
            )
        return list(given)

    @field_validator("title", "owner", "purpose", "recipient", "contact", "date", "signers")
    @classmethod
    def _readable(cls, given: str | list[str] | None) -> str | list[str] | None:
        for text in [given] if isinstance(given, str) else given or []:
            if not text.strip():
                raise ValueError("has an empty text; leave it out, or write something")
            if len(text) > LONG:
                raise ValueError(f"has a text of {len(text):,} characters; {LONG:,} are the most")
        return given

    def stated(self) -> dict[str, object]:
        """The settings that differ from their defaults.

        >>> About(owner="Clinic", signers="Dr. Ann Lee").stated()
        {'owner': 'Clinic', 'signers': ['Dr. Ann Lee']}
        """
        return self.model_dump(exclude_defaults=True)
