"""What attacks do and find, in plain words."""

from __future__ import annotations

from shoal import catalog
from shoal.base.wording import number, percent, sentence, short

# What an attack is, where its docstring says it in other words than this page.
ABOUT = {
    "graph": "Somebody knows everybody's quasi-identifiers and rules out the rows that fit a "
    "person but are in no complete assignment of people to rows.",
    "matching": "Somebody knows everybody's quasi-identifiers and counts in how many complete "
    "assignments of people to rows each row is a person's: the likeliest one is the best guess.",
}
# The same where there are no classes, but rows that could be a person's.
ABOUT_LINKED = {
    "linkage": "Somebody knows everybody's quasi-identifiers: how many rows could be each "
    "person's?",
    "homogeneity": "Where all rows that could be a person's have the same value, that value is "
    "known.",
    "background-knowledge": "How many sensitive values must somebody rule out before one remains "
    "among the rows that could be a person's?",
    "skewness": "How much do the rows that could be a person's raise the belief that they have a "
    "value?",
    "similarity": "Are the different values of the rows that could be a person's all of one kind, "
    "or all about as large?",
}

# Where an attack counts as a success, if it is not said before.
SUCCESS = {
    "linkage": "It succeeds where one person only is left.",
    "background-knowledge": "It succeeds where ruling out a single value is enough.",
    "skewness": "It succeeds where the share of a value is more than 20 percentage points higher "
    "than in the whole table, and at least one half.",
    "similarity": "It succeeds where they are.",
    "graph": "It succeeds where fewer rows are left than the fewest that fit anybody.",
    "matching": "It succeeds where one row is likelier to be the person's than all others "
    "together, whatever the error of sampling.",
}
# The same where the table tells whose each row is.
SUCCESS_PEOPLE = {
    "homogeneity": "It also succeeds where everybody of a class has the value among others.",
    "background-knowledge": "It succeeds where ruling out a single value is enough: one value is "
    "left, or all people who are left have some value.",
    "skewness": "It succeeds where the share of a value is more than 20 percentage points higher "
    "than in the whole table, and at least one half: counted by rows, or by the people who have "
    "it.",
    "similarity": "It succeeds where they are, or where everybody of a class has some value of one "
    "kind.",
}
SUCCESS_LINKED = {"linkage": "It succeeds where one row only is left."}

# What attacks find, by the names in their findings.
FINDINGS = {
    "fewest_candidates": "fewest people whom a record could belong to",
    "mean_candidates": "people whom a record could belong to, on average",
    "singled_out": "records that can belong to one person only",
    "singled_out_percent": "… as a share of all records",
    "mean_candidates_of_people": "people whom a person could be, on average over people",
    "people_singled_out": "people whom nobody else looks like",
    "people_singled_out_percent": "… as a share of all people",
    "classes": "classes in which it succeeds",
    "records": "records in these classes",
    "percent": "… as a share of all records",
    "people": "people who have a record in these classes",
    "people_percent": "… as a share of all people",
    "classes_by_rows": "classes in which it succeeds, counted by rows",
    "classes_by_people": "classes in which it succeeds, counted by people",
    "fewest_to_rule_out": "fewest values to rule out, in any class",
    "records_with_none_to_rule_out": "records where nothing has to be ruled out",
    "records_with_one_to_rule_out": "records where one value has to be ruled out",
    "value": "the value whose share grows most",
    "counted_by": "… counted by",
    "belief_before": "… its share of the whole table",
    "belief_after": "… its share of that class",
    "gain": "… the difference, in percentage points",
    "ratio": "… times as likely as before",
    "class_records": "… records in that class",
    "class_people": "… people in that class",
    "judged_by": "what tells which values are alike",
    "records_in_one_branch": "records in classes of one kind of values",
    "records_in_a_narrow_range": "records in classes of numbers close together",
    "fewest_that_fit": "fewest rows that fit a person, or people whom a row fits",
    "fewest_left": "fewest rows that could be a person's, after ruling out",
    "pairs_ruled_out_percent_of_all": "pairs of a person and a row that are ruled out",
    "people_below": "people who are left with fewer rows than that",
    "largest_probability": "chance of the best guess, for the most exposed person that was found",
    "mean_largest_probability": "chance of the best guess, on average over all people",
    "error": "… its standard error, from sampling",
    "mean_if_equally_likely": "… as it would be if all possible rows were equally likely",
    "people_above_equally_likely": "people with a row that is likelier than that",
    "people_above_one_in_fewest": "people with a row that is likelier than any among the fewest",
    "exact_people": "people for whom all assignments were counted, not sampled",
    "samples": "how often all people were drawn anew, for the others",
}
LINKED = {
    "fewest_candidates": "fewest rows that could be a person's",
    "mean_candidates": "rows that could be a person's, on average",
    "singled_out": "people of whom one row only could be theirs",
    "singled_out_percent": "… as a share of all people",
    "classes": "different combinations of values whose people are concerned",
    "records": "people on whom it succeeds",
    "percent": "… as a share of all people",
    "fewest_to_rule_out": "fewest values to rule out, for anybody",
    "records_with_none_to_rule_out": "people for whom nothing has to be ruled out",
    "records_with_one_to_rule_out": "people for whom one value has to be ruled out",
    "belief_after": "… its share of the rows that could be that person's",
    "class_records": "… rows that could be that person's",
    "records_in_one_branch": "people whose possible rows have values of one kind",
    "records_in_a_narrow_range": "people whose possible rows have numbers close together",
    "people": "people on whom it succeeds",
}
SHARES = {
    "belief_before",
    "belief_after",
    "largest_probability",
    "mean_largest_probability",
    "mean_if_equally_likely",
    "error",
}


def about(name: str, linked: bool, people: bool = False) -> str:
    """What an attack is and where it succeeds; nothing for one that is not in the catalog."""
    if name not in catalog.attacks and name not in ABOUT:
        return ""
    told = (ABOUT_LINKED.get(name) if linked else None) or ABOUT.get(name)
    if told is None:
        told = sentence(catalog.attacks[name].summary())
    other = SUCCESS_LINKED if linked else SUCCESS_PEOPLE if people else {}
    success = other.get(name) or SUCCESS.get(name, "")
    return f"{told} {success}".strip()


def finding(key: str, linked: bool = False) -> str:
    """What an attack found, in words.

    >>> finding("percent"), finding("percent", linked=True), finding("people_who_cried")
    ('… as a share of all records', '… as a share of all people', 'people who cried')
    """
    words = (LINKED.get(key) if linked else None) or FINDINGS.get(key)
    return words or short(key.replace("_", " "))


def found(key: str, value: object) -> str:
    """A value that an attack found, as a reader sees it.

    >>> found("percent", 12.0), found("gain", 0.25), found("classes", 1200), found("x", None)
    ('12\\xa0%', '25', '1,200', '–')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        if "percent" in key.split("_"):
            return percent(value)
        if key in SHARES or key.endswith("probability"):
            return percent(100 * value)
        return number(round(100 * value, 1) if key == "gain" else value)
    return "–" if value is None else short(value)
