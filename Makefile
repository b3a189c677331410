# Two commands for a newcomer: `make demo` and `make test`. Everything is written below this
# folder (.venv, runs) and in the asset cache (FLOORBENCH_CACHE, by default the user's cache folder).
PYTHON ?= python3
# `make test EXTRAS=test,hf` adds torch and transformers (1.2 GB) and the tests that need them;
# `EXTRAS=test,build` the speech packages and theirs, `EXTRAS=test,ray` Ray.
EXTRAS ?= test
VENV := .venv
BIN := $(VENV)/bin
# `make bench ONLY=labels` measures one subject; `make peers` first, to compare with more packages.
ONLY ?=
BENCH = $(firstword $(wildcard .venv-peers/bin/python) $(BIN)/python)
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test docs pictures bench peers torture clean

demo: $(VENV)/.demo
	@$(BIN)/floorbench demo

test: $(VENV)/.test
	@$(BIN)/python -m floorbench assets get --quiet test
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile --ignore tests/browser
	@$(BIN)/python -m pytest tests/browser || [ $$? -eq 5 ] # 5: there is no browser, as it has said

bench: $(VENV)/.test
	@$(BENCH) -m benchmarks $(ONLY)

# Other packages to compare with, torch among them, in an environment of their own.
peers: | $(VENV)/bin/python
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet -e ".[test]" -r benchmarks/peers.txt

# Kills, full disks, hostile inputs; about an hour (`make torture TORTURE=--short` a minute or two).
torture: $(VENV)/.test
	@$(BIN)/python -m torture $(TORTURE)

docs: $(VENV)/.test
	@$(BIN)/python docs/build_reference.py

# The pictures of the documentation; needs Chromium.
pictures: $(VENV)/.test
	@$(BIN)/python docs/build_pictures.py

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
	rm -rf $(VENV) .venv-peers runs .mypy_cache .ruff_cache .hypothesis
