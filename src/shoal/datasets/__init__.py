"""Tables to experiment with: five public data sets and three synthetic ones."""

# Not lazy: each function has the name of its file, and the name must stay the function's
# whichever of the two is imported first.
from shoal.datasets.adult import adult
from shoal.datasets.artificial import artificial
from shoal.datasets.cmc import cmc
from shoal.datasets.diabetes import diabetes
from shoal.datasets.hospital import hospital
from shoal.datasets.informs import informs
from shoal.datasets.nursery import nursery
from shoal.datasets.voters import voters

__all__ = ["adult", "artificial", "cmc", "diabetes", "hospital", "informs", "nursery", "voters"]
