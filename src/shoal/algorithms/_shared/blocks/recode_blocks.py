"""Recode each block of a table by itself, and put the results together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import get_ident

import numpy as np

from shoal.algorithms._shared.blocks.blocks import Blocks, BlockTables, publishable
from shoal.algorithms._shared.blocks.needed import check_suppression, records_of
from shoal.algorithms._shared.parts.joined import Joined
from shoal.algorithms._shared.parts.part_task import rng_of
from shoal.base.arrays import Bools, Ints
from shoal.base.errors import CannotReach, ShoalError
from shoal.base.progress import Progress
from shoal.base.threads import in_threads
from shoal.base.wording import many
from shoal.hierarchies.free_values import Covers, FreeTree
from shoal.models import Model, min_class_size
from shoal.table.encode import Table
from shoal.table.recoding import SUPPRESSED, Recoding

LARGE = 5_000  # tuples of a block that threads recode together

# Recodes one table with these random numbers.
Run = Callable[[Table, np.random.Generator, Progress], Recoding]


@dataclass(frozen=True, eq=False)
class BlockRecoding:
    """The recodings of all blocks that are published."""

    table: Table
    blocks: Blocks
    published: Bools
    tables: BlockTables
    found: list[Recoding]  # of each, with the nodes of its own trees

    def joined(self) -> Recoding:
        """All of them as one recoding of the table."""
        joined = Joined(self.table)
        for block, one in enumerate(self.found):
            tops = self.tables.tops_of(block)
            joined.add_part(self.tables.rows_of(block), replace(one, vectors=_lifted(one, tops)))
        whole = joined.recoding() if self.found else _nothing(self.table)
        cut = sum(one.parts - 1 for one in self.found)
        made = replace(whole, notes=(*self._notes(), *_remarks(self.found)), parts=1 + cut)
        check_allowed(self.table, made)
        return made

    def _notes(self) -> list[str]:
        gone = len(self.blocks) - int(self.published.sum())
        suppressed = records_of(self.table, ~np.append(self.published, False)[self.blocks.label])
        note = (
            f"at_most divides the table into {many(len(self.blocks), 'block')} that have no "
            "published values in common; each was recoded by itself"
        )
        if suppressed:
            note += (
                f"; {many(gone, 'block')} that cannot satisfy the requirements, and records whose "
                f"own values are beyond at_most, were suppressed: {many(suppressed, 'record')}"
            )
        return [note]


def recode_blocks(
    table: Table,
    models: Sequence[Model],
    within: Sequence[Model],
    run: Run,
    rng: np.random.Generator,
    progress: Progress,
    suppression: float | None,
) -> BlockRecoding:
    """Recode each block that can satisfy the models, and suppress the others.

    `run` satisfies those that are about single classes (`within`).
    """
    blocks = Blocks.of(table)
    published = publishable(table, blocks, models)
    check_suppression(table, blocks, published, models, suppression)
    tables = BlockTables(table, blocks, published)
    seed = int(rng.integers(1 << 63))
    caller, total = get_ident(), max(len(tables.rows), 1)
    done = [0.0] * len(tables)  # rows of each block

    def show() -> None:
        progress("recoding blocks", min(sum(done) / total, 1.0))

    def recoded(block: int) -> Recoding:
        furthest = 0.0

        def report(stage: str, share: float) -> None:  # noqa: ARG001 (of all stages of all blocks)
            nonlocal furthest
            furthest = max(furthest, min(share, 1.0))
            done[block] = int(tables.tuples[block]) * furthest / 2
            if get_ident() == caller:
                show()

        found = _recoded(tables.table(block), within, run, rng_of(seed, block), report)
        done[block] = int(tables.tuples[block])
        return found

    # A large block is recoded by all threads together, and several small ones at the same time.
    largest_first = np.argsort(-tables.tuples, kind="stable").tolist()
    alone = [block for block in largest_first if tables.tuples[block] > LARGE]
    found = {block: recoded(block) for block in alone}
    rest = largest_first[len(alone) :]
    found |= zip(rest, in_threads(recoded, rest, show), strict=True)
    show()
    return BlockRecoding(
        table, blocks, published, tables, [found[block] for block in range(len(tables))]
    )


def _recoded(
    table: Table, models: Sequence[Model], run: Run, rng: np.random.Generator, progress: Progress
) -> Recoding:
    """A block; if it has only one class, or the algorithm finds no classes, as one class."""
    few = not any(model.linkage for model in models)
    if few and table.person_count < 2 * min_class_size(models):
        return one_class(table)
    if (table.codes == table.codes[0]).all():
        return one_class(table)
    try:
        return run(table, rng, progress)
    except CannotReach:
        return one_class(table)


def one_class(table: Table) -> Recoding:
    """All records of a table as one class: the least values that cover them."""
    covers = tuple(Covers(tree) for tree in table.trees)
    vector = np.zeros((1, len(table.trees)), np.int32)
    for j, tree in enumerate(table.trees):
        codes = np.unique(table.codes[:, j])
        if isinstance(tree, FreeTree):
            vector[0, j] = covers[j].code(tree.code(codes.tolist()))
        else:  # the ancestor of the first and the last in preorder is that of all
            vector[0, j] = tree.join(int(codes[0]), int(codes[-1]))
    return Recoding(vector, np.zeros(len(table.codes), np.int64), covers)


def _lifted(found: Recoding, tops: Ints) -> Ints:
    """Vectors with the nodes of the whole trees."""
    return (found.vectors + tops).astype(np.int32)


def check_allowed(table: Table, recoding: Recoding) -> None:
    """Raise an error if a published value is beyond `at_most`."""
    used = recoding.vectors[np.unique(recoding.record[recoding.record != SUPPRESSED])]
    for j, tops in enumerate(table.tops):
        if tops is None:
            continue
        covers = recoding.covers[j] if recoding.covers else Covers(table.trees[j])
        if not tops.allowed_codes(used[:, j], covers).all():
            raise ShoalError(
                f"column {table.names[j]!r}: a published value is beyond at_most; this is a bug in "
                "the algorithm, and nothing is released"
            )


def _nothing(table: Table) -> Recoding:
    """The recoding that suppresses every record."""
    nobody = np.full(len(table.codes), SUPPRESSED, np.int64)
    return Recoding(np.zeros((0, len(table.trees)), np.int32), nobody)


def _remarks(found: Sequence[Recoding]) -> list[str]:
    """The remarks on blocks, each once."""
    return list(dict.fromkeys(note for one in found for note in one.notes))[:3]
