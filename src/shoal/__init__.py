"""Privacy-preserving data publishing."""
__version__ = "0.1.0"
