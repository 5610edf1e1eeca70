# make demo and make test are the two commands a newcomer needs; both set up first, and find that done the second time.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.setup-done
PIP    := $(BIN)/python -m pip --disable-pip-version-check
# Processes that tests are dealt out to; each may have a stack with Spark of about 2 GB.
TESTERS ?= 2

.PHONY: help setup editor demo test test-slow campaign check format lock audit licences clean
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## virtual environment with every pinned part

$(STAMP): requirements/build.txt requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(None if (3, 11) <= v < (3, 15) else f"headrace needs Python 3.11 to 3.14, and {sys.executable} is {v[0]}.{v[1]}: make setup PYTHON=/path/to/python3")'
	@echo "[1/3] virtual environment in $(VENV)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@mkdir -p $(VENV)/tmp
	@echo "[2/3] dependencies, pinned with hashes (pyspark alone is 456 MB: the first time takes a few minutes)"
	@TMPDIR=$(CURDIR)/$(VENV)/tmp $(PIP) install --require-hashes -r requirements/build.txt
	@TMPDIR=$(CURDIR)/$(VENV)/tmp $(PIP) install --require-hashes --no-build-isolation -r requirements/dev.txt
	@echo "[3/3] headrace itself, with the editor"
	@$(PIP) install --quiet --no-deps --no-build-isolation -e .
	@$(BIN)/python -m headrace.spark.session.prepare
	@$(BIN)/python -m headrace.spark.session.archive
	@rm -rf $(VENV)/tmp && touch $@

# Setting up builds the editor; afterwards it is built anew where its sources changed.
editor: setup
	@$(BIN)/python hatch_build.py

demo: editor ## a fleet of drones, live in the browser and the terminal
	@$(BIN)/headrace demo

test: editor ## the fast tests
	@$(BIN)/python hatch_build.py npm run --silent test
	@$(BIN)/python -m pytest -n $(TESTERS) -m "not slow" --durations=20

test-slow: editor ## crashes, power loss, the wheel: what takes minutes
	@$(BIN)/python -m pytest -n $(TESTERS) -m slow --durations=40

# Hours of faults, with its result in bench/campaign.json: before a release, and after a change of what survives them.
CAMPAIGN := tests/demo/test_crashes.py tests/wire/test_crash.py tests/wire/test_simulation.py tests/wire/test_workload.py \
  tests/wire/test_java_connect.py tests/wire/test_java_mirror.py tests/wire/test_java_streams.py tests/spark/chains/test_chain_crashes.py
campaign: setup ## kills for hours (nothing else should run)
	@HEADRACE_CAMPAIGN=1 $(BIN)/python -m pytest -n $(TESTERS) -m slow $(CAMPAIGN)

check: setup ## format, lint, types, import rules, the editor's too
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python hatch_build.py npm run --silent check

format: setup ## put the code into shape
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .
	@$(BIN)/python hatch_build.py npm run --silent format

lock: ## make the lock files anew (needs uv)
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header -q requirements/build.in -o requirements/build.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header -q pyproject.toml --group dev -o requirements/dev.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header -q pyproject.toml -c requirements/dev.txt -o requirements/runtime.txt

audit: ## known vulnerabilities of the locked parts (asks advisory services: needs a network)
	@$(PYTHON) -m venv $(VENV)/audit && $(VENV)/audit/bin/python -m pip install --quiet pip-audit==2.10.1
	@$(BIN)/python requirements/audit.py $(VENV)/audit/bin/pip-audit

licences: setup ## list the licences of the runtime parts anew
	@$(BIN)/python requirements/licences.py > THIRD_PARTY_LICENSES.md

clean: ## remove what setup and tests made
	rm -rf $(VENV) ui/node_modules ui/.built ui/.lock src/headrace/server/static .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache dist
