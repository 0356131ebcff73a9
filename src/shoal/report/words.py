"""Plain words and numbers for readers who know no statistics."""

from __future__ import annotations

from math import exp, isfinite
from typing import Any

from shoal.models import Model

LONG = 40  # characters of a label


def short(text: object, longest: int = LONG) -> str:
    """A text from the data as a label: on one line, printable, cut where it is long.

    >>> short("a\\tb"), short("x" * 9, 5)
    ('a b', 'xxxx…')
    """
    printable = "".join(c if c.isprintable() else " " for c in str(text)[: 4 * longest])
    label = " ".join(printable.split())
    return label if len(label) <= longest else label[: longest - 1] + "…"


def percent(share: float) -> str:
    """A percentage with as many digits as it deserves, which no line break parts.

    >>> [percent(share).replace("\\xa0", " ") for share in (0, 6.66, 0.004, 99.97)]
    ['0 %', '6.7 %', '< 0.01 %', '99.97 %']
    """
    if not isfinite(share):
        return "–"
    if share in (0, 100):
        return f"{share:.0f}\xa0%"
    if 0 < share < 0.01:
        return "<\xa00.01\xa0%"
    if 99.99 < share < 100:
        return ">\xa099.99\xa0%"
    digits = 1 if 0.1 <= share <= 99.9 or share > 100 else 2
    return f"{share:.{digits}f}".removesuffix(".0") + "\xa0%"


def number(value: float) -> str:
    """A number as a person would write it.

    >>> number(30162), number(5.0), number(0.16666), number(float("inf"))
    ('30,162', '5', '0.1667', 'without bound')
    """
    if not isfinite(value):
        return "without bound"
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.4g}"


def many(count: int, one: str, several: str = "") -> str:
    """A count with its noun.

    >>> many(1, "row"), many(2000, "class", "classes")
    ('1 row', '2,000 classes')
    """
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def listed(names: list[str], most: int = 12) -> str:
    """Names in a sentence, as many as can be read.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c"], 1)
    ('a, b and c', 'a and 2 more')
    """
    labels = [short(name) for name in names[:most]]
    if len(names) > most:
        labels.append(f"{len(names) - most:,} more")
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} and {labels[-1]}"


# What a promise means to the people in the table. A model that is not here is told by the first
# line of its docstring.
PROMISES = {
    "k-anonymity": "Nobody stands alone: in everything that an outsider may know, each person "
    "looks the same as at least {others} other people in the table.",
    "distinct-l-diversity": "Whoever finds out a person's class still sees at least {l} different "
    "values of {column} there.",
    "p-sensitivity": "Whoever finds out a person's class still sees at least {p} different values "
    "of {column} there.",
    "entropy-l-diversity": "In every class the values of {column} are at least as mixed as {l} "
    "values that are all equally frequent.",
    "frequency-l-diversity": "In no class is one value of {column} more frequent than once in {l} "
    "rows: whoever guesses a person's value is right no more often than that.",
    "recursive-cl-diversity": "In no class does one value of {column} crowd out the others: the "
    "most frequent one has fewer than {c} times the rows of all values from the {l}th most "
    "frequent on.",
    "alpha-k-anonymity": "Each person looks the same as at least {others} other people, and in no "
    "class does one value of {column} make up more than {alpha_percent} of the rows.",
    "t-closeness": "Knowing a person's class tells little new about {column}: in every class its "
    "values are spread nearly as in the whole table. The distance is 0 where they are spread "
    "alike, and {most} where class and table have nothing in common.",
    "beta-likeness": "In no class is a value of {column} much more likely than in the whole "
    "table: its share grows by at most {beta} times itself.",
    "delta-disclosure": "In every class each value of {column} is about as frequent as in the "
    "whole table: less than {factor} times as frequent, and more than 1/{factor} as frequent.",
}


def promise(model: Model) -> str:
    """What a model promises, in a plain sentence."""
    options = {
        name: number(value) if isinstance(value, int | float) else short(value)
        for name, value in model.options().items()
    }
    extra: dict[str, Any] = {"most": "2" if options.get("distance") == "l1" else "1"}
    given = model.options()
    if "k" in given:
        extra["others"] = number(given["k"] - 1)
    if "alpha" in given:
        extra["alpha_percent"] = percent(100 * given["alpha"])
    if "delta" in given:
        extra["factor"] = number(exp(given["delta"])) if given["delta"] < 20 else "very many"
    if model.name in PROMISES:
        return PROMISES[model.name].format_map({**options, **extra})
    return sentence(type(model).summary())


def bound(model: Model, level: float) -> str:
    """A level that is asked for.

    >>> from shoal.models.k_anonymity import KAnonymity
    >>> bound(KAnonymity(k=5), 5)
    'at least 5'
    """
    if model.higher_is_safer:
        return f"{'more than' if model.strict else 'at least'} {number(level)}"
    return f"{'less than' if model.strict else 'at most'} {number(level)}"


def sentence(text: str) -> str:
    """A text that ends like a sentence.

    >>> sentence("It is so"), sentence("Is it so?")
    ('It is so.', 'Is it so?')
    """
    return text if text[-1:] in (".", "?", "!", "") else text + "."


# Where an attack counts as a success, if its docstring does not begin with that.
SUCCESS = {
    "linkage": "It succeeds where one person only is left.",
    "background-knowledge": "It succeeds where ruling out a single value is enough.",
    "skewness": "It succeeds where a value becomes much likelier than in the whole table, and at "
    "least as likely as all others together.",
    "similarity": "It succeeds where they are.",
}

# What attacks find, by the names in their findings: the words, and how to write the value.
FINDINGS = {
    "fewest_candidates": "fewest people whom a record could belong to",
    "mean_candidates": "people whom a record could belong to, on average",
    "singled_out": "records that can belong to one person only",
    "singled_out_percent": "… as a share of all records",
    "classes": "classes in which it succeeds",
    "records": "records in these classes",
    "percent": "… as a share of all records",
    "fewest_to_rule_out": "fewest values to rule out, in any class",
    "records_with_none_to_rule_out": "records where nothing has to be ruled out",
    "records_with_one_to_rule_out": "records where one value has to be ruled out",
    "value": "the value that becomes most surely known",
    "belief_before": "… its share of the whole table",
    "belief_after": "… its share of that class",
    "gain": "… the difference, in percentage points",
    "ratio": "… times as likely as before",
    "class_records": "… records in that class",
    "judged_by": "what tells which values are alike",
    "records_in_one_branch": "records in classes of one kind of values",
    "records_in_a_narrow_range": "records in classes of numbers close together",
}
SHARES = {"belief_before", "belief_after"}


def finding(key: str) -> str:
    """What an attack found, in words.

    >>> finding("percent"), finding("people_who_cried")
    ('… as a share of all records', 'people who cried')
    """
    return FINDINGS.get(key, short(key.replace("_", " ")))


def found(key: str, value: object) -> str:
    """A value that an attack found, as a reader sees it.

    >>> found("percent", 12.0), found("gain", 0.25), found("classes", 1200), found("x", None)
    ('12\\xa0%', '25', '1,200', '–')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        if key.endswith("percent"):
            return percent(value)
        if key in SHARES:
            return percent(100 * value)
        return number(round(100 * value, 1) if key == "gain" else value)
    return "–" if value is None else short(value)
