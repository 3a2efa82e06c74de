# Needs Python 3.11 or newer and make; the real harnesses also need Node 20 or newer with npm.

PYTHON ?= python3
JOBS ?= 3
BIN := .venv/bin
# A first look keeps to itself: it writes nothing into the user's own folders.
TRY := BARRY_HOME="$(CURDIR)/.venv/demo" $(BIN)/barry
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# The tree is compiled below: without that, every start of an editable install compiles it again.
unexport PYTHONDONTWRITEBYTECODE
unexport PYTHONPATH PYTHONHOME

.NOTPARALLEL:
.PHONY: demo install dev harnesses check unit real test test-full fuzz record evidence bench clean

demo: install  ## a first look: a session with the harness that Barry brings along
	@$(TRY) adapter add demo --json >/dev/null
	@if [ -t 0 ] && [ -t 1 ]; then $(TRY) session launch demo; else \
		echo "There is no terminal here, so the demo does the same job through its headless end."; \
		$(BIN)/python -I -S adapters/demo/barry_adapter_demo/harness/main.py \
			--allow shell --print "run echo hello from a tool"; fi

install: .venv/.installed
	@$(BIN)/python -m compileall -q barry_cli adapters

dev: .venv/.dev install

harnesses: .harnesses/.installed  ## the harnesses' own programs, pinned, for the real tests

check: dev  ## format, lint, types, import rule
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	PYTHONPATH=$$(echo adapters/*/ | tr ' ' ':') $(BIN)/lint-imports --no-logo imports-of-adapters.toml

unit: dev
	$(BIN)/pytest tests/unit -n $(JOBS) --dist worksteal -m "not long"

real: dev harnesses
	$(BIN)/pytest tests/real -n $(JOBS) --dist worksteal -m "not long"

test: check unit real  ## what every change must pass

test-full: check harnesses  ## the same with the whole matrices and counts
	$(BIN)/pytest tests/unit -n $(JOBS) --dist worksteal
	$(BIN)/pytest tests/real -n $(JOBS) --dist worksteal

fuzz: dev  ## looks for a text that the reader misreads, for ten minutes
	$(BIN)/python -m tests.shell.fuzz $(or $(FUZZ_SECONDS),600)

record: dev harnesses  ## the harnesses' streams anew, from their programs: RECORD="claude --accept"
	$(BIN)/python -m tests.record $(RECORD)

evidence: dev harnesses  ## the adapters' checks anew, and docs/harnesses.md from them: EVIDENCE="claude"
	$(BIN)/python -m tests.evidence run $(EVIDENCE)

bench: dev harnesses  ## figures, as ratios to a bare start of Python
	$(BIN)/pytest tests/bench -s

clean:  ## remove everything that make made
	rm -rf .venv .harnesses dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis \
		.import_linter_cache
	find barry_cli adapters tests -name __pycache__ -prune -exec rm -rf {} +

.venv/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Barry needs Python 3.11 or newer: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	@touch $@

.venv/.installed: .venv/.python pyproject.toml constraints.txt bin/barry
	$(PIP) install --constraint constraints.txt hatchling editables
	$(PIP) install --constraint constraints.txt --no-build-isolation --editable .
	@touch $@

.venv/.dev: .venv/.installed
	$(PIP) install --constraint constraints.txt --no-build-isolation --editable '.[dev]'
	@touch $@

.harnesses/.installed: tests/real/package.json tests/real/install.py | .venv/.python
	$(BIN)/python tests/real/install.py
