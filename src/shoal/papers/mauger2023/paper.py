"""What section 4 of Mauger, Le Mahec, Dequen 2023 prints: tables 4 and 5, figures 14 and 15."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

Measure: TypeAlias = Literal["alteration", "diversity", "closeness"]
MEASURES: tuple[Measure, ...] = ("alteration", "diversity", "closeness")
STRATEGIES = ("S1", "S2", "S3", "S4", "S5", "S6", "S7")
KS = (3, 4, 5, 10, 20, 100, 250, 500, 1000, 2000, 5000, 10000, 15000)  # section 4.3.2
SIMULATED_KS = KS[:-2]  # section 4.3.3
SIZES = (5, 10, 20, 50, 100, 200, 500)  # values of a simulated column
SHAPES = ("equivalent", "geometric", "normal")  # their distributions

# The l-diversity value of the whole table as one class (section 4.3.2).
MOST_DIVERSE = {"Adult_Age": 50.03, "Adult_Mar": 3.53, "florida_30162_Aff": 3.16}

# Tables 4 (guided by NLLM) and 5 (Total): by table, for each measure S1 to S7.
TABLES: dict[str, dict[str, tuple[tuple[float, ...], ...]]] = {
    "nllm": {
        "Adult_Age": (
            (71.19, 70.07, 88.02, 69.71, 99.6, 89.77, 79.46),
            (83.35, 82.22, 94.9, 86.65, 98.56, 96.29, 90.41),
            (17.63, 20.13, 7.15, 17.44, 1.36, 4.65, 12.14),
        ),
        "Adult_Mar": (
            (76.58, 73.37, 90.43, 72.92, 99.28, 92.45, 83.35),
            (73.97, 72.64, 89.46, 66.77, 97.85, 93.85, 94.01),
            (20.69, 24.99, 9.4, 24.48, 1.2, 3.7, 4.95),
        ),
        "florida_30162_Aff": (
            (72.72, 72.71, 90.24, 72.79, 100.0, 90.89, 80.34),
            (86.64, 86.65, 98.74, 86.6, 99.98, 98.68, 97.43),
            (15.98, 15.98, 3.1, 16.01, 0.02, 3.06, 4.93),
        ),
    },
    "total": {
        "Adult_Age": (
            (84.51, 79.97, 90.87, 85.93, 99.6, 92.42, 83.9),
            (82.16, 81.99, 95.71, 88.6, 98.56, 95.17, 90.61),
            (17.88, 20.6, 5.18, 13.59, 1.36, 6.22, 11.47),
        ),
        "Adult_Mar": (
            (78.39, 83.96, 93.26, 78.96, 99.83, 92.93, 90.13),
            (73.78, 78.25, 96.01, 82.25, 99.16, 96.4, 95.98),
            (18.24, 17.12, 6.37, 13.24, 0.43, 3.8, 2.45),
        ),
        "florida_30162_Aff": (
            (67.86, 69.51, 89.54, 67.55, 100.0, 91.3, 82.07),
            (88.63, 88.59, 98.64, 87.76, 99.98, 98.62, 97.14),
            (15.09, 15.2, 3.77, 15.82, 0.02, 2.37, 4.63),
        ),
    },
}

# The last columns of figures 14 (NLLM) and 15 (Total): mean NAUC over the 21 columns, for each
# measure S1 to S7. None: the text that we have is not legible there. The 55.989 of S2 is hard to
# read; its 93.775 is also said in the text.
MEANS: dict[str, dict[str, tuple[tuple[float | None, ...], ...]]] = {
    "nllm": {
        "Adult": (
            (51.974, 55.989, 77.286, 56.619, 99.938, 75.462, 63.345),
            (93.829, 93.775, 94.86, 94.189, 99.528, 94.186, 94.168),
            (9.628, None, 8.031, 9.191, 0.455, 8.29, 8.887),
        ),
        "florida_30162": (
            (61.146, 50.17, None, 51.005, 99.999, 71.669, 55.592),
            (94.317, 93.7, 94.622, 93.897, 99.927, 94.224, 93.976),
            (8.001, 9.635, None, 9.349, 0.073, 8.419, 9.031),
        ),
    },
    "total": {
        "Adult": (
            (71.088, 71.028, 83.542, None, 99.939, 84.474, 79.973),
            (94.089, 94.004, 95.011, 95.095, None, 94.39, 94.421),
            (9.143, 9.356, 7.961, 7.283, 0.455, None, None),
        ),
        "florida_30162": (
            (56.386, 58.893, 76.422, 61.757, 99.999, 75.471, 61.431),
            (93.698, 93.725, 94.719, 95.745, 99.927, 94.612, 94.227),
            (9.524, 9.358, 8.391, 7.343, 0.073, 8.446, None),
        ),
    },
}

# The ranks of figures 14a and 15a (Adult), S1 to S7 from top to bottom, 21 columns: seven sizes
# for each of the three distributions. A dot is a cell that our text has lost.
RANKS: dict[str, dict[Measure, str]] = {
    "nllm": {
        "alteration": """
            1111111 1111112 2111111
            ....... ....... .......
            5555565 6666666 6566555
            2332236 3222444 3322224
            7777777 7777777 7777777
            4466654 5555555 5655666
            6644442 4443223 4443443
        """,
        "diversity": """
            6667476 6645346 6777546
            ....... ....... .......
            422.324 4222.23 32226.4
            5545542 7776434 7555432
            1111111 1111111 1111111
            3373233 2363677 2333.73
            2434667 3434552 4444355
        """,
        "closeness": """
            6766474 7674776 7777666
            7657656 6566555 6655777
            3222325 3322222 3332324
            5575742 5757437 5566433
            1111111 1111111 1111111
            4343233 2233.64 2223542
            2434567 4445643 4444255
        """,
    },
    "total": {
        "alteration": """
            3222213 2231213 22222.2
            2311121 3323422 1331111
            6555434 6666644 4565534
            11..666 1114.56 .114466
            7777777 7777777 7777777
            ....... ....... .......
            4644342 4442161 6643345
        """,
        "diversity": """
            7757576 5556366 6656655
            5676767 6643435 7567766
            4422233 3422244 4322243
            6565422 7764552 5775422
            1111111 1111111 1111111
            ....... ....... .......
            2334654 437.723 224453.
        """,
        "closeness": """
            5767465 6676473 6666465
            7676777 5567655 7557777
            2423.33 3333244 443.353
            65556.2 7755522 5774522
            1111111 1111111 1111111
            ....... ....... .......
            ....... ....... .......
        """,
    },
}


def table(guide: str, name: str, measure: Measure) -> dict[str, float]:
    """A column of table 4 or 5, by strategy.

    >>> table("nllm", "Adult_Mar", "closeness")["S5"]
    1.2
    """
    return dict(zip(STRATEGIES, TABLES[guide][name][MEASURES.index(measure)], strict=True))


def means(guide: str, name: str, measure: Measure) -> Mapping[str, float | None]:
    """The means of figure 14 or 15, by strategy."""
    return dict(zip(STRATEGIES, MEANS[guide][name][MEASURES.index(measure)], strict=True))


def ranks(guide: str, measure: Measure) -> dict[str, list[int | None]]:
    """The ranks of figure 14a or 15a, by strategy; a lost one is found where six are left.

    >>> ranks("nllm", "alteration")["S2"][:3]
    [3, 2, 2]
    """
    rows = [line.replace(" ", "") for line in RANKS[guide][measure].split("\n") if line.strip()]
    columns = [_filled(column) for column in zip(*rows, strict=True)]
    return {name: [column[i] for column in columns] for i, name in enumerate(STRATEGIES)}


def _filled(column: Sequence[str]) -> list[int | None]:
    """The ranks of one column; the only one that is lost is the one that the others lack."""
    lost = set("1234567") - set(column)
    last = int(lost.pop()) if column.count(".") == 1 else None
    return [last if rank == "." else int(rank) for rank in column]
