# make demo   environment, install, train a drone policy under the gate, certify, report
# make test   environment, install with test extras, lint, types, tests
# Both work on a fresh machine with Python 3.11 or newer and nothing else.

PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV ?= .venv
BIN := $(VENV)/bin
RUN ?= runs/demo-$(shell date +%Y%m%d-%H%M%S)
WORKERS ?= 2

export OMP_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test install install-test lint types fast slow packages pythons clean

demo: install
	$(BIN)/safegym train drone/corridor-v0 --first-screen 6 --workers $(WORKERS) --out $(RUN)

test: install-test lint types fast slow packages pythons

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "safegym needs Python 3.11 or newer; none was found. Set PYTHON=/path/to/python3.11."; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[test]'
	@touch $@

install: $(VENV)/.installed

install-test: $(VENV)/.installed-test

lint: install-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m safegym_predicates.lock --check
	$(BIN)/python -m safegym.trace.manifest traces --check
	$(BIN)/python -m safegym.check.matrix --check
	$(BIN)/python -m safegym.scenario.lock --check
	$(BIN)/python -m safegym.scenario.tables docs/reference/scenarios.md --check

types: install-test
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python

fast: install-test
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -m "not slow" tests

slow: install-test
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -m slow tests

packages: install-test
	$(BIN)/python tests/packages.py

pythons: install-test
	$(BIN)/python tests/pythons.py

clean:
	rm -rf $(VENV) dist build

# Each pack of scenarios in an environment of its own: their simulators do not agree on versions.
PACK ?= highway
PACK_VENV := .venv-$(PACK)

.PHONY: pack
pack:
	$(PYTHON) -m venv $(PACK_VENV)
	$(PACK_VENV)/bin/python -m pip install --quiet --editable '.[$(PACK)]' pytest torch==2.13.0
	SAFEGYM_PACK_SCENARIOS=0 $(PACK_VENV)/bin/python -m pytest -q -m slow tests/packs -k "$(PACK)"
