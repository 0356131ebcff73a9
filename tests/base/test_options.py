"""Options as programs see them: every option of the catalog can be drawn as a field."""

from __future__ import annotations

import pytest

from shoal import catalog
from shoal.base.options import options_of, shapes_of
from shoal.base.settings import Setting

ENTRIES = [kind for registry in catalog.registries.values() for kind in registry.values()]


@pytest.mark.parametrize("kind", ENTRIES, ids=lambda kind: kind.name)
def test_every_option_has_a_shape_with_its_range(kind: type[Setting]) -> None:
    shapes = shapes_of(kind)
    assert list(shapes) == [option.name for option in options_of(kind)]
    for name, shape in shapes.items():
        assert shape.description, f"{kind.name}.{name} has no description"
        assert shape.required or shape.default is None or shape.kind != "text"
        if shape.usual is not None:
            usual = shape.usual
            assert usual.low <= usual.start <= usual.high
            assert all(map(shape.fits, (usual.low, usual.start, usual.high)))


@pytest.mark.parametrize("kind", catalog.models.values(), ids=lambda kind: kind.name)
def test_every_model_can_be_made_with_usual_values(kind: type[Setting]) -> None:
    """A program can add any model, and every number of it has the ends of a slider."""
    shapes = shapes_of(kind)
    column = {"column": "disease"} if "column" in shapes else {}
    starts = {
        name: shape.start
        for name, shape in shapes.items()
        if name != "column" and shape.start is not None
    }
    made = kind(**column, **starts)
    assert made.options() | starts == made.options()
    for name, shape in shapes.items():
        assert shape.kind not in ("whole", "number") or shape.usual is not None, name


def test_shapes_of_all_kinds() -> None:
    full = shapes_of(catalog.algorithms["full-domain"])
    assert (full["suppression"].low, full["suppression"].high) == (0, 1)
    assert full["objective"].choices == ("loss", "discernibility", "average-class-size")
    assert shapes_of(catalog.algorithms["peel"])["lend"].kind == "switch"
    q = shapes_of(catalog.algorithms["concealment"])["q"]
    assert (q.kind, q.low, q.required, q.default) == ("whole", 2, False, None)
    order = shapes_of(catalog.models["t-closeness"])["order"]
    assert (order.kind, order.default) == ("list", None)
    assert shapes_of(catalog.losses["weights"])["edge_weights"].kind == "table"
    alpha = shapes_of(catalog.models["ir-alpha-beta-anonymity"])["alpha"]
    assert not alpha.fits(0)
    assert not alpha.fits(1)
    assert alpha.fits(0.999)
