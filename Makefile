# Two commands for a newcomer: `make demo` and `make test`. Everything is written below this
# folder (.venv, runs) and in the asset cache (FLOORBENCH_CACHE, by default the user's cache folder).
PYTHON ?= python3
# `make test EXTRAS=test,hf` adds torch and transformers (1.2 GB) and the tests that need them;
# `EXTRAS=test,build` the speech packages and theirs.
EXTRAS ?= test
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test docs bench torture clean

demo: $(VENV)/.demo
	@$(BIN)/floorbench demo

test: $(VENV)/.test
	@$(BIN)/python -m floorbench assets get --quiet test
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/python -m pytest

bench: $(VENV)/.test
	@for script in benchmarks/bench_*.py; do echo "== $$script"; PYTHONPATH=tests $(BIN)/python $$script || exit 1; done

# Kills, full disks, hostile inputs; about half an hour (`make torture TORTURE=--short` a minute or two).
torture: $(VENV)/.test
	@$(BIN)/python -m torture $(TORTURE)

docs: $(VENV)/.test
	@$(BIN)/python docs/build_reference.py

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "floorbench needs Python 3.11 or newer; try: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install --quiet -c constraints.txt -e ".[demo]"
	@touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install --quiet -c constraints.txt -e ".[$(EXTRAS)]"
	@touch $@ $(VENV)/.demo

clean:
	rm -rf $(VENV) runs .mypy_cache .ruff_cache .hypothesis
