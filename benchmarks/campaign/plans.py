"""Random plans for a table: models, algorithm, loss and options."""

from __future__ import annotations

from random import Random

from benchmarks.campaign.oracle import TABLE_MODELS
from benchmarks.campaign.tables import Table, say_missing
from benchmarks.campaign.trees import Tree

SEVEN = ("distortion", "ncp", "total", "llm", "nllm", "wllm", "wnllm")
LOSSES = (*SEVEN, "lm", "entropy", "mean", "auto", "weights")
FREE_ALGORITHMS = (
    "gaa", "agglomerative", "danonyir", "mondrian", "k-member", "kaca", "mdav", "microaggregation",
)  # fmt: skip
CLASS_ALGORITHMS = (
    "peel", "peel", "peel", "gaa", "agglomerative", "full-domain", "full-domain", "mondrian",
    "forest", "sequential", "k-member", "kaca", "mdav", "microaggregation",
    "auto",
)  # fmt: skip
PEOPLE_ALGORITHMS = ("danonyir", "geneir")
ROW_MODELS = (
    "k-1-anonymity", "1-k-anonymity", "k-k-anonymity", "k-concealment", "k-belief", "max-belief",
)  # fmt: skip
SENSITIVE_MODELS = (
    "distinct-l-diversity", "p-sensitivity", "frequency-l-diversity", "entropy-l-diversity",
    "recursive-cl-diversity", "alpha-k-anonymity", "t-closeness", "beta-likeness",
    "delta-disclosure",
)  # fmt: skip
PEOPLE_MODELS = (
    "ir-k-anonymity", "ir-kl-anonymity", "ir-alpha-beta-anonymity", "eir-l-diversity",
    "eir-alpha-beta-anonymity",
)  # fmt: skip


def random_plan(rng: Random, table: Table) -> dict:
    """A plan that can be asked of the table, now and then one that cannot.

    It decides how the table writes missing values: cells of it may change.
    """
    words = say_missing(rng, table)
    plan: dict = {
        "columns": {column.name: column.setting() for column in table.columns},
        "models": _models(rng, table),
    }
    names = [model["name"] for model in plan["models"]]
    algorithm = _algorithm(rng, table, names)
    if algorithm is not None:
        plan["algorithm"] = algorithm
    loss = rng.choice(LOSSES)
    if loss == "weights" and (table.free or rng.random() < 0.7):
        loss = "lm"
    if loss == "auto" and rng.random() < 0.7:
        loss = "mean"
    if loss == "weights":
        plan["loss"] = {"name": loss, "edge_weights": _weights(rng, table)}
    elif rng.random() < 0.9:
        plan["loss"] = loss
    if "auto" in (loss, (algorithm or {}).get("name")):  # a short search
        if loss == "auto" and (algorithm or {}).get("name") != "auto" and table.rows > 300:
            plan["loss"] = "mean"
        elif (algorithm or {}).get("name") == "auto":
            plan["algorithm"] = {"name": "auto", "seconds": rng.choice([0.5, 1, 2])}
    if rng.random() < 0.6:
        plan["seed"] = rng.randrange(1000)
    if rng.random() < 0.2:
        plan["keep_order"] = True
    plan["missing"] = rng.choices(["value", "empty", "root", "error"], [55, 25, 18, 2])[0]
    if words is not None:
        plan["missing_values"] = words
    write = _writing(rng, any(name in ROW_MODELS for name in names))
    if write:
        plan["write"] = write
    return plan


def _writing(rng: Random, linked: bool) -> dict:
    """How the file is written; by default as it is."""
    write: dict = {}
    ranges = rng.choices(["label", "bounds", "midpoint"], [60, 25, 15])[0]
    if ranges == "bounds" or (ranges == "midpoint" and not linked):
        write["ranges"] = ranges
    if rng.random() < 0.15:
        write["types"] = "infer"
    if rng.random() < 0.15:
        write["formulas"] = rng.choice(["escape", "keep"])
    return write


def _weights(rng: Random, table: Table) -> dict:
    weights = {}
    for column in table.columns_with_role("quasi"):
        tree: Tree = column.tree("root")
        labels = [label for label in tree.parent if label is not None]
        weights[column.name] = {label: rng.choice([0, 0.5, 1, 2, 3.25]) for label in labels}
    return weights


def _algorithm(rng: Random, table: Table, models: list[str]) -> dict | None:
    if "k-belief" in models or "max-belief" in models:
        return {"name": "freeform", "rounds": rng.choice([0, 30, 1000])}
    if any(model in ROW_MODELS for model in models):
        options = rng.choice([{}, {}, {"randomized": False}, {"q": rng.choice([2, 3, 5])}])
        return {"name": "concealment", **options}
    people = all(model in (*PEOPLE_MODELS, *TABLE_MODELS, "k-anonymity") for model in models)
    pool = [*CLASS_ALGORITHMS, *(PEOPLE_ALGORITHMS * 3 if people else ())]
    if table.free and rng.random() < 0.95:
        pool = [name for name in pool if name in FREE_ALGORITHMS or name == "auto"]
    if rng.random() < 0.1:
        return None
    name = rng.choice(pool)
    options: dict = {}
    few = rng.random() < 0.5
    match name:
        case "peel" if few:
            options = {"passes": rng.choice([0, 1, 2, 3]), "lend": rng.random() < 0.5}
        case "full-domain" if rng.random() < 0.6:
            options = {"suppression": rng.choice([0, 0.05, 0.1, 0.3, 0.5])}
        case "mondrian" if few:
            options = {"cuts": rng.choice(["relaxed", "strict"])}
        case "sequential" if few:
            options = {"passes": rng.choice([1, 2, 10])}
        case "agglomerative" if few:
            options = {"w": rng.choice([0, 0.15, 0.5]), "weight": rng.choice(["size", "unit"])}
        case "forest" | "k-member" | "kaca" | "mdav" if few:
            options = {"w": rng.choice([0, 0.15, 0.5])}
        case "microaggregation" if few:
            options = {"method": rng.choice(["mdav", "shortest-path"])}
        case "gaa" if few:
            options = {
                "weight": rng.choice(["size", "unit"]),
                "candidates": rng.choice(["all", "small"]),
            }
            sensitive = table.columns_with_role("sensitive")
            if sensitive and not table.free and rng.random() < 0.6:
                options["strategy"] = rng.choice(["S1", "S2", "S3", "S4", "S5", "S6", "S7"])
                options["column"] = rng.choice(sensitive).name
        case _:
            pass
    return {"name": name, **options}


def _models(rng: Random, table: Table) -> list[dict]:
    sensitive = table.columns_with_role("sensitive")
    person = table.columns_with_role("person")
    cells: list = person[0].meanings() if person else list(range(table.rows))
    people = len({cell for cell in cells if cell is not None}) + cells.count(None)
    models: list[dict] = []
    if not person and table.rows <= 120 and not table.free and rng.random() < 0.2:
        k = max(2, rng.randint(2, max(2, min(8, table.rows))))
        name = rng.choice(ROW_MODELS)
        models.append({"name": name, **({"rho": 1 / k} if name == "max-belief" else {"k": k})})
        if models[0]["name"] == "k-concealment" and sensitive and rng.random() < 0.4:
            kind = rng.choice(SENSITIVE_MODELS[:3])
            models.append(_sensitive(rng, kind, rng.choice(sensitive), people))
        return models
    if rng.random() < 0.8 or not sensitive:
        most = max(2, min(people, rng.choice([3, 5, 10, 50])))
        models.append({"name": "k-anonymity", "k": rng.randint(2, most + (rng.random() < 0.03))})
    for _ in range(rng.choice([0, 0, 1, 1, 1, 2, 3])):
        if sensitive and (not person or rng.random() < 0.4):
            model = _sensitive(rng, rng.choice(SENSITIVE_MODELS), rng.choice(sensitive), people)
        elif sensitive and person:
            model = _people(rng, rng.choice(PEOPLE_MODELS), rng.choice(sensitive), people)
        else:
            continue
        if (model["name"], model.get("column")) not in [
            (m["name"], m.get("column")) for m in models
        ]:
            models.append(model)
    if rng.random() < 0.15:
        one = {"name": "average-risk", "r": rng.choice([0.05, 0.2, 0.3, 0.5])}
        other = {"share": rng.choice([0, 0.1, 0.4]), "threshold": rng.choice([0.1, 0.34, 0.5])}
        models.append(rng.choice([one, {"name": "share-at-risk", **other}]))
    if not models:
        models.append({"name": "k-anonymity", "k": 2})
    return models


def _sensitive(rng: Random, name: str, column, people: int) -> dict:
    model: dict = {"name": name, "column": column.name}
    kinds = len(set(column.meanings()))
    small = rng.randint(2, max(2, min(4, kinds)))
    match name:
        case "distinct-l-diversity":
            return model | {"l": small}
        case "p-sensitivity":
            return model | {"p": small}
        case "frequency-l-diversity" | "entropy-l-diversity":
            return model | {"l": rng.choice([1.1, 1.3, 1.5, 1.9, 2, 3])}
        case "recursive-cl-diversity":
            return model | {"c": rng.choice([0.5, 1, 2, 3.5, 10]), "l": rng.choice([2, 2, 3])}
        case "alpha-k-anonymity":
            return model | {
                "alpha": rng.choice([0.4, 0.5, 0.7, 0.9]),
                "k": rng.randint(2, max(2, min(people, 6))),
            }
        case "beta-likeness":
            kind = rng.choice(["basic", "enhanced"])
            return model | {"beta": rng.choice([0.3, 1, 2.5, 8]), "kind": kind}
        case "delta-disclosure":
            return model | {"delta": rng.choice([0.5, 1, 2, 4])}
    distance = rng.choice(["equal", "l1", "ordered", "hierarchical"])
    model |= {"t": rng.choice([0, 0.1, 0.2, 0.3, 0.5, 0.8]), "distance": distance}
    if distance == "hierarchical" and column.hierarchy is None:
        model["distance"] = "equal"
    if distance == "ordered" and (
        column.hierarchy is not None
        or "v" in "".join(filter(None, column.meanings()))
        or rng.random() < 0.3
    ):
        order = sorted({cell for cell in column.cells if not column.means_nothing(cell)})
        rng.shuffle(order)
        model["order"] = order
    return model


def _people(rng: Random, name: str, column, people: int) -> dict:
    k = rng.randint(2, max(2, min(people, 6)))
    model: dict = {"name": name}
    if name != "ir-k-anonymity":
        model["column"] = column.name
    match name:
        case "ir-k-anonymity":
            return model | {"k": k}
        case "ir-kl-anonymity":
            return model | {"k": k, "l": rng.choice([2, 3])}
        case "eir-l-diversity":
            return model | {"l": rng.choice([2, 2, 3])}
    return model | {"alpha": rng.choice([0.2, 0.5, 0.7]), "beta": rng.choice([0.5, 0.7, 0.9])}
