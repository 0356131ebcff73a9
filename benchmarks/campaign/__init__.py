"""A campaign of trials against the command line, which trusts nothing that shoal computes.

Nothing here imports shoal's models, losses, classes, hierarchies or files: tables are read by csv,
json, openpyxl and polars, and every requirement is counted again in plain Python from the cells
that were written. Only `worker.py` touches shoal, and only its command line.

- `releases.py`: random tables and plans; the written release is recomputed from its text;
- `samples.py`: samples of a population, weights, households, coded numbers, anatomy;
- `kills.py`: commands that are interrupted or killed at random moments;
- `spoiled.py`: damaged tables, plans, recodings and hierarchies;
- `markers.py`: a unique marker in each cell; none that is not published may be in any file.

    python -m benchmarks.campaign --minutes 10 --seed 1
    python -m benchmarks.campaign --seed 1 --only releases:17     # one case once more
"""
