"""The version of the package, as it was installed."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("shoal")
except PackageNotFoundError:  # run from a folder that was never installed
    __version__ = "0+unknown"
