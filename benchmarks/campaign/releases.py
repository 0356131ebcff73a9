"""Random releases, recomputed from the text that was written."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from math import isinf, isnan
from pathlib import Path

from benchmarks.campaign import linked
from benchmarks.campaign.loss import REPORTED, SEVEN, Losses
from benchmarks.campaign.optimum import best_node
from benchmarks.campaign.oracle import (
    TABLE_MODELS,
    Published,
    candidates,
    enough,
    level,
)
from benchmarks.campaign.plans import ROW_MODELS, random_plan
from benchmarks.campaign.tables import Column, Table, random_table
from benchmarks.campaign.texts import (
    FORMATS,
    is_typed,
    plan_text,
    read_cells,
    read_table,
    write_table,
)
from benchmarks.campaign.trees import same
from benchmarks.campaign.trial import Trial
from benchmarks.campaign.written import escapes, has_ends, may_be_middle, unescaped, with_labels

COUNTED = 12  # records up to which shoal counts all complete assignments
SUPPRESSING = ("full-domain", "danonyir", "geneir")


def run(trial: Trial) -> None:
    """Anonymize a random table by a random plan, and count everything again."""
    table = random_table(trial.rng)
    plan = random_plan(trial.rng, table)
    Case(trial, table, plan).run()


class Case:
    """A table and a plan in files, and what must be true of a release of it."""

    def __init__(self, trial: Trial, table: Table, plan: dict) -> None:
        self.trial, self.table, self.plan = trial, table, plan
        self.rng = trial.rng
        self.quasi = table.columns_with_role("quasi")
        self.missing = plan.get("missing", "value")
        self.write_settings = plan.get("write", {})
        self.ranges = self.write_settings.get("ranges", "label")
        self.trees = [column.tree(self.missing) for column in self.quasi]
        # What the original says: labels of its quasi-identifiers, one list per column.
        self.labels = [
            [column.label(cell, self.missing, tree) for cell in column.cells]
            for column, tree in zip(self.quasi, self.trees, strict=True)
        ]
        self.typed: list[Column] = []  # columns that the original has as numbers or dates
        self.linked = any(model["name"] in ROW_MODELS for model in plan["models"])
        persons = table.columns_with_role("person")
        self.persons = None
        if persons:
            cells = persons[0].meanings()
            self.persons = [("row", i) if c is None else c for i, c in enumerate(cells)]
        self.sensitive = {c.name: c.meanings() for c in table.columns_with_role("sensitive")}
        self.sensitive_trees = {
            c.name: c.tree("empty") if c.hierarchy else None
            for c in table.columns_with_role("sensitive")
        }
        loss = plan.get("loss")
        weights = loss["edge_weights"] if isinstance(loss, dict) else None
        self.losses = Losses(
            self.trees, self.labels, weights and [weights[column.name] for column in self.quasi]
        )

    @property
    def algorithm(self) -> str:
        return self.plan.get("algorithm", {"name": "default"})["name"]

    def write(self) -> str:
        """Write the table, its plan and level files; give the name of the table."""
        folder, rng = self.trial.folder, self.rng
        data = f"data.{rng.choice(FORMATS)}"
        cells: dict[str, list] = {column.name: list(column.cells) for column in self.table.columns}
        for column in self.table.columns:
            if is_typed(data) and column.kind and rng.random() < 0.5:
                with suppress(ValueError):  # a word is none of them: the column is text
                    cells[column.name] = [
                        None if c is None else column.kind(c) for c in column.cells
                    ]
                    # JSON has numbers, but no dates.
                    if column.kind in (int, float) or not data.endswith("jsonl"):
                        self.typed.append(column)
        write_table(cells, folder / data, rng.choice([",", ",", ";", "|"]))
        (folder / "plan.toml").write_text(plan_text(self.plan), encoding="utf-8")
        for name, text in self.table.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        return data

    def run(self) -> None:
        """Anonymize, then look at all that was written."""
        trial, rng = self.trial, self.rng
        data = self.write()
        out = f"release.{rng.choice(FORMATS)}"
        words = ["anonymize", data, "--plan", "plan.toml", "--out", out, "--json", "numbers.json"]
        recoding = rng.random() < 0.5
        words += ["--recoding", "recoding.json"] if recoding else []
        words += ["--report", "report.html"] if rng.random() < 0.05 else []
        words += ["--seed", rng.randrange(100)] if rng.random() < 0.1 else []
        keep_order = self.plan.get("keep_order", False)
        if rng.random() < 0.1:
            words, keep_order = [*words, "--keep-order"], True
        ran = trial.run(*words, seconds=60 + self.table.rows / 50)
        trial.counts[f"exit {ran.code}"] += 1
        lacking = any(column.lacks(cell) for column in self.quasi for cell in column.cells)
        if self.missing == "error" and lacking:
            trial.check(ran.code == 2, f"missing = 'error', and exit {ran.code}")
        if ran.code == 0:
            trial.counts[f"format {out.removeprefix('release.')}"] += 1
            trial.counts[f"ranges as {self.ranges}"] += 1
            trial.counts[f"missing = {self.missing}"] += lacking
            trial.counts["columns with words for missing"] += sum(
                any(cell in column.words for cell in column.cells) for column in self.quasi
            )
            numbers = json.loads((trial.folder / "numbers.json").read_text(encoding="utf-8"))
            case = self.as_chosen(numbers)
            case.check_release(out, numbers, keep_order)
            self.check_types(out)
            case.check_bound(numbers)
            case.check_optimum(numbers)
            if rng.random() < 0.4:
                case.check_audit(data, out, numbers)
            asked = {model["name"] for model in self.plan["models"]}
            drawn = bool(asked & {"k-belief", "max-belief"})
            if recoding and rng.random() < 0.8 and not drawn:  # of a draw there is no recoding
                case.check_apply(data, out)
            return
        written = [n for n in (out, "numbers.json", "recoding.json") if (trial.folder / n).exists()]
        trial.check(not written, f"exit {ran.code}, and {written} written")
        if ran.code == 1:
            self.check_out_of_reach()
        elif ran.code == 2:
            reason = ran.err.strip().splitlines()[-1:]
            trial.counts[f"refused: {' '.join(reason)[:90]}"] += 1

    def as_chosen(self, numbers: dict) -> Case:
        """The same case with the free ranges or sets that auto chose for flat columns."""
        freed = [name for one in numbers["tried"] if one["chosen"] for name in one.get("free", ())]
        if not freed:
            return self
        self.trial.counts["columns freed by auto"] += len(freed)
        columns = [
            replace(c, hierarchy=self.free_of(c)) if c.name in freed else c
            for c in self.table.columns
        ]
        return Case(self.trial, replace(self.table, columns=columns), self.plan)

    def free_of(self, column: Column) -> dict:
        """Free ranges if all values are numbers, free sets otherwise."""
        values = column.known
        return {"free_ranges" if values and all(map(is_number, values)) else "free_sets": True}

    # What is in the release

    def published_names(self) -> list[str]:
        left_out = ("identifier", "drop")
        return [c.name for c in self.table.columns if c.role not in left_out and c.publish]

    def read(self, out: str) -> dict[str, list]:
        """The cells of a release, with labels where the file has bounds."""
        bounded = [c for c in self.quasi if self.ranges == "bounds" and has_ends(c)]
        names = [c.name for c in bounded]
        cells = read_table(
            self.trial.folder / out, [n for n in self.published_names() if n not in names]
        )
        if escapes(self.write_settings, Path(out)):
            cells = unescaped(cells)
        lacking = [name for name in names if name + "_low" not in cells]
        self.trial.check(not lacking, f"no bounds: {lacking}")
        return with_labels(cells, bounded)

    def check_release(self, out: str, numbers: dict, keep_order: bool, fresh: bool = True) -> None:
        """Everything that is known about one release and its JSON file."""
        trial, table = self.trial, self.table
        cells = self.read(out)
        if fresh or list(cells) != self.published_names():
            trial.check(list(cells) == self.published_names(), f"columns {list(cells)}")
        rows = [int(tag[1:]) for tag in cells["tag"]]  # of the original
        trial.check(len({*rows}) == len(rows), "a row is published twice")
        if keep_order:
            trial.check(rows == sorted(rows), "keep_order, and the order is another")
        for column in table.columns:
            if column.role in ("sensitive", "other"):
                good = all(
                    same(cells[column.name][i]) == same(column.cells[row])
                    for i, row in enumerate(rows)
                )
                trial.check(good, f"cells of {column.name!r} are not those of the original")
        if not self.check_cover(cells, rows):
            return  # such labels are in no tree
        self.check_persons(cells, rows)
        labels = [cells[column.name] for column in self.quasi]
        suppressed = table.rows - len(rows)
        trial.check(numbers["published"] == len(rows), "JSON: published rows")
        trial.check(numbers["suppressed"] == suppressed, "JSON: suppressed rows")
        trial.check(numbers["rows"] == table.rows, "JSON: rows")
        name = numbers["algorithm"]["name"]  # the one that auto chose
        if fresh and name not in SUPPRESSING:
            trial.check(suppressed == 0, f"{name} suppressed {suppressed} rows")
        as_labels = self.ranges != "midpoint"  # else the numbers are not about the file
        if as_labels and (fresh or numbers["loss"] != "weights"):
            self.check_losses(labels, numbers, suppressed)  # a recoding by weights has other trees
        seen = Published(
            list(zip(*labels, strict=True)),
            None if self.persons is None else [self.persons[row] for row in rows],
            {name: [column[row] for row in rows] for name, column in self.sensitive.items()},
            self.sensitive_trees,
        )
        if as_labels and not self.linked:
            trial.check(numbers["classes"] == len(seen.classes), "JSON: classes")
            smallest = min(candidates(seen).values())
            trial.check(numbers["smallest_class"] == smallest, "JSON: smallest_class")
            squares = sum(len(one) ** 2 for one in seen.classes.values())
            squares += suppressed * table.rows
            trial.check(numbers["discernibility"] == squares, "JSON: discernibility")
        self.check_models(seen, rows, numbers["checks"])

    def check_types(self, out: str) -> None:
        """A column is text only if it was, or if a published value is no number or date."""
        if not is_typed(out) or self.ranges != "label":
            return
        cells = read_cells(self.trial.folder / out, [])
        for column in self.typed:
            no_dates = column.kind not in (int, float) and out.endswith(("jsonl", "xlsx"))
            if column.role != "quasi" or no_dates or column.kind is None:
                continue
            published = cells[column.name]
            texts = [cell for cell in published if type(cell) is str]
            with suppress(ValueError):  # a range, or *
                values = [column.kind(cell) for cell in texts]
                self.trial.check(not values, f"{column.name!r} became text: {texts[:3]}")
            self.trial.counts["columns with types"] += not texts

    def check_cover(self, cells: dict, rows: list[int]) -> bool:
        good = True
        for column, tree, labels in zip(self.quasi, self.trees, self.labels, strict=True):
            known: dict = {}
            for i, row in enumerate(rows):
                pair = cells[column.name][i], labels[row]
                if pair not in known and self.ranges == "midpoint" and has_ends(column):
                    known[pair] = may_be_middle(column, tree, *pair)
                elif pair not in known:
                    known[pair] = tree.covers(*pair)
            bad = [pair for pair, good in known.items() if not good]
            good &= self.trial.check(not bad, f"{column.name!r} does not cover: {bad[:3]}")
        return good

    def check_persons(self, cells: dict, rows: list[int]) -> None:
        for column in self.table.columns_with_role("person"):
            if not column.publish:
                self.trial.check(column.name not in cells, "persons are published")
                continue
            assert self.persons is not None
            pairs = {(self.persons[row], cells[column.name][i]) for i, row in enumerate(rows)}
            one_to_one = len(pairs) == len({p for p, _ in pairs}) == len({n for _, n in pairs})
            self.trial.check(one_to_one, "person numbers are not one to one")
            vectors: dict = {}
            for i, row in enumerate(rows):
                vector = tuple(cells[c.name][i] for c in self.quasi)
                vectors.setdefault(self.persons[row], set()).add(vector)
            alike = all(len(one) == 1 for one in vectors.values())
            self.trial.check(alike, "rows of a person are not published alike")

    def check_losses(self, labels: list[list], numbers: dict, suppressed: int) -> None:
        reported = numbers["losses"]
        ours = {name: self.losses.percent(name, labels, suppressed) for name in REPORTED}
        guide = numbers["loss"]
        if guide not in ours and guide != "auto":
            ours[guide] = self.losses.percent(guide, labels, suppressed)
        for name, percent in ours.items():
            good = abs(reported[name] - percent) <= 1e-6 * max(1, percent)
            self.trial.check(good, f"loss {name}: {reported[name]} reported, {percent} recomputed")
        mean = sum(ours[name] for name in SEVEN) / 7
        good = abs(numbers["mean_loss"] - mean) <= 1e-6 * max(1, mean)
        self.trial.check(good, f"mean_loss: {numbers['mean_loss']} reported, {mean} recomputed")
        self.trial.counts["losses recomputed"] += len(ours) + 1

    def check_models(self, seen: Published, rows: list[int], checks: list[dict]) -> None:
        """Recompute each requirement, and compare what was reached with what is reported."""
        models = self.plan["models"]
        if self.linked:
            originals = list(
                zip(*([column[row] for row in rows] for column in self.labels), strict=True)
            )
            fits = linked.edges(originals, seen.label, self.trees)
            levels = linked.linkage_levels(models, fits, seen.values)
        else:
            levels = [level(model, seen) for model in models]
        for model, check, found in zip(models, checks, levels, strict=True):
            if found is not None and isnan(found):
                self.trial.counts["requirements not recomputed"] += 1
                continue
            self.trial.counts["requirements recomputed"] += 1
            self.trial.counts[f"model {model['name']}"] += 1
            if not self.trial.check(found is not None, "no perfect matching"):
                continue
            good = enough(model, found)
            self.trial.check(good, f"VIOLATED: {model} reaches {found}")
            self.trial.check(check["holds"], f"JSON says that {model} is violated")
            reached = check["reached"]
            if self.ranges == "midpoint":  # the file may have fewer classes than the release
                continue
            if model["name"] == "eir-l-diversity":
                close = reached >= model["l"]
            elif self.linked and model["name"] == "frequency-l-diversity":
                # Where matchings are sampled, what is reported is a limit that is surely reached.
                least = found if len(rows) <= COUNTED else 0.0
                close = least - 1e-6 <= reached <= found + 1e-6
            elif reached is None:
                close = isinf(found)
            else:
                close = abs(reached - found) <= 1e-6 * max(1, abs(found))
            self.trial.check(close, f"{model}: {reached} reported, {found} recomputed")

    # What is claimed of it

    def check_bound(self, numbers: dict) -> None:
        bound = numbers["bound"]
        if bound and bound["percent"] is not None:
            self.trial.counts["bounds compared"] += 1
            lost = numbers["losses"][numbers["loss"]]
            good = bound["percent"] <= lost + 1e-6
            self.trial.check(good, f"lower bound {bound['percent']} above the loss {lost}")

    def check_optimum(self, numbers: dict) -> None:
        """full-domain against brute force over all nodes, where these are few."""
        if self.algorithm != "full-domain" or self.plan.get("loss") == "auto":
            return
        share = self.plan.get("algorithm", {}).get("suppression", 0)
        if share and any(model["name"] in TABLE_MODELS for model in self.plan["models"]):
            return  # which classes to suppress is not searched then, as its note says
        best = best_node(self, numbers["loss"])
        if best is not None:
            self.trial.counts["optima compared"] += 1
            lost = numbers["losses"][numbers["loss"]]
            words = f"full-domain loses {lost} by {numbers['loss']}, another node {best}"
            self.trial.check(lost <= best + 1e-6, words)

    def check_out_of_reach(self) -> None:
        """Exit status 1 is right only if the whole table as one class is not enough."""
        if self.linked:
            return
        n = self.table.rows
        whole = Published([()] * n, self.persons, self.sensitive, self.sensitive_trees)
        good = all(enough(model, level(model, whole)) for model in self.plan["models"])
        # geneir and danonyir publish whole classes too, so that one class is always left.
        self.trial.check(not good, "exit 1, and the whole table as one class satisfies everything")

    # Other commands on the same files

    def check_audit(self, data: str, out: str, numbers: dict) -> None:
        if any(not column.publish for column in self.table.columns):
            return
        words = ["audit", out, "--plan", "plan.toml", "--json", "audit.json"]
        if self.ranges != "midpoint":  # which does not say what it stands for
            words += ["--original", data]
        ran = self.trial.run(*words)
        self.trial.counts["audits"] += 1
        if self.linked and numbers["suppressed"]:
            return  # a release with other rows than its original cannot be linked
        if not self.trial.check(ran.code == 0, f"audit: exit {ran.code}"):
            return
        if self.ranges == "midpoint":
            return
        audited = json.loads((self.trial.folder / "audit.json").read_text(encoding="utf-8"))
        for mine, theirs in zip(numbers["checks"], audited["checks"], strict=True):
            self.trial.check(mine == theirs, f"audit says {theirs}, anonymize {mine}")
        if audited.get("losses"):
            for name, percent in audited["losses"].items():
                if name in numbers["losses"]:
                    good = abs(percent - numbers["losses"][name]) <= 1e-6 * max(1, percent)
                    self.trial.check(good, f"audit: loss {name}")

    def check_apply(self, data: str, out: str) -> None:
        again = f"applied.{out.partition('.')[2]}"
        words = ["apply", data, "--recoding", "recoding.json", "--out", again]
        ran = self.trial.run(*words, "--json", "applied.json")
        self.trial.counts[f"applied, exit {ran.code}"] += 1
        if ran.code == 0:
            numbers = json.loads((self.trial.folder / "applied.json").read_text(encoding="utf-8"))
            keep_order = self.plan.get("keep_order", False)
            settled = replace(self.table, columns=[_settled(c) for c in self.table.columns])
            plan = self.plan
            if isinstance(plan.get("loss"), dict):  # its recodings list ranges as values
                write = {k: v for k, v in self.write_settings.items() if k != "ranges"}
                plan = {**plan, "write": write}
            Case(self.trial, settled, plan).check_release(again, numbers, keep_order, fresh=False)
        else:
            written = (self.trial.folder / again).exists()
            self.trial.check(not written, f"apply: exit {ran.code}, and the release is written")
            self.trial.check(ran.code == 1, f"apply to the same table: exit {ran.code}")


def _settled(column: Column) -> Column:
    """A column as a recoding has it: prefixes with the length of the codes, 0 if uneven."""
    setting = column.hierarchy
    if not setting or "prefixes" not in setting or "length" in setting:
        return column
    lengths = {len(cell) for cell in column.known}
    length = lengths.pop() if len(lengths) == 1 else 0
    return replace(column, hierarchy={**setting, "length": length}) if lengths or length else column


def is_number(value: str) -> bool:
    try:
        Fraction(value)
    except (ValueError, ZeroDivisionError):
        return False
    return "/" not in value
