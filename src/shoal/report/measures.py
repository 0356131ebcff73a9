"""What the loss metrics count, in plain words."""

from __future__ import annotations

# Each completes "It counts …". A metric that is not here is told by its docstring.
MEASURES = {
    "nllm": "how many original values a published one may stand for, as a share of all values of "
    "its column; columns whose hierarchy has few steps count more",
    "ncp": "how many original values a published one may stand for, as a share of all values of "
    "its column; all columns count alike",
    "wnllm": "how many original values a published one may stand for, as a share of all values of "
    "its column; columns whose hierarchy has many steps count less",
    "lm": "how many values besides the true one a published value may stand for, as a share of all "
    "others of its column",
    "llm": "how many original values a published one may stand for, not as a share: columns with "
    "many values, such as dates, outweigh the others",
    "wllm": "how many original values a published one may stand for, not as a share; columns whose "
    "hierarchy has many steps count less",
    "total": "steps up the hierarchy, as a share of all its steps: a date made a month is one "
    "step, however many days a month has",
    "distortion": "steps up the hierarchy, the upper ones dearer than the lower ones",
    "entropy": "how much is left to guess for somebody who wants the exact value and knows how "
    "frequent each value is in this table",
    "mean": "the mean of the seven measures of Mauger et al. (2023), each in percent of what it "
    "could lose",
    "weights": "the weights that the plan gives each step",
}
WHY_THEY_DIFFER = (
    "The measures answer different questions, so their numbers differ and none of them is wrong. "
    "A birth date published as its year may stand for 365 of some 30,000 days: about 1\xa0% is "
    "lost if one counts values, and two of four steps, 50\xa0%, if one counts steps (month, year, "
    "decade, nothing at all). Compare releases by one and the same measure only."
)


def counted(name: str, summary: str) -> str:
    """What a metric counts, in plain words where there are some.

    >>> counted("a metric of tomorrow", "Tears shed")
    'Tears shed'
    """
    return MEASURES.get(name, summary)
