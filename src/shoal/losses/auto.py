"""A guiding loss that is chosen by trying."""

from __future__ import annotations

from typing import ClassVar

from shoal.losses.mean import Mean


class Auto(Mean):
    """Whichever metric, as a guide, loses least by the mean of the seven (Sec. 5, Mauger 2023).

    The flow settles it: it tries the seven metrics and their mean, see `shoal.flow.auto_select`.
    Until then, as in an audit, it is the mean.
    """

    name: ClassVar[str] = "auto"
    is_auto: ClassVar[bool] = True
