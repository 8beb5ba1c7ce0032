# Every target makes and reuses .venv by itself; it is installed anew only when pyproject.toml or the pins change.
#
# requirements/constraints.txt pins every extra; requirements/dev.txt is the part of it that development needs
# (base + dev, same versions), requirements/service.txt that of a node (base + postgres). Each is a complete list for
# `pip install --require-hashes -r`, followed by the project with `--no-deps`: as `-c` constraints, their hashes would
# make pip refuse the project's own folder.

PYTHON ?= python3
ARGS ?=

BIN := .venv/bin
INSTALLED := .venv/.installed
# A third of the time a worker waits, for a process or for a moment to pass.
SUITE := $(BIN)/pytest -n 3 --dist worksteal
COMPILE := $(BIN)/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
	--custom-compile-command "make lock"

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help serve serve-postgres test check bench bench-peers proof lock format clean

help: ## Show the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

serve: $(INSTALLED) ## Start the service (ARGS="--port 7077")
	$(BIN)/mycel serve $(ARGS)

serve-postgres: $(INSTALLED) ## Start a Postgres in .postgres and the service on it (ARGS="--port 7077")
	$(BIN)/python -m scripts.postgres $(ARGS)

test: $(INSTALLED) ## Run the tests but the slow proofs (ARGS="-k name")
	$(SUITE) $(ARGS)

check: $(INSTALLED) ## Everything a change must pass: lint, format, types, layers, tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright --warnings
	$(BIN)/lint-imports
	$(SUITE)

bench: $(INSTALLED) ## Measure quality and speed (ARGS go to the benchmarks)
	$(BIN)/python -m benchmarks $(ARGS)

bench-peers: $(INSTALLED) ## Measure Mycel beside its peers (ARGS="--bench-data DIR --quick")
	$(BIN)/python -m benchmarks.peers $(ARGS)

proof: $(INSTALLED) ## Run the slow proofs (ARGS="-k name")
	$(BIN)/pytest -m "proof or hypothesis" --hypothesis-profile=proof --timeout 3600 $(ARGS)

format: $(INSTALLED) ## Fix what the linter can and format the code
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

lock: $(INSTALLED) ## Pin the dependencies of pyproject.toml (ARGS="--upgrade" for newer versions)
	$(COMPILE) --all-extras -o requirements/constraints.txt $(ARGS)
	$(COMPILE) --extra dev -c requirements/constraints.txt -o requirements/dev.txt $(ARGS)
	$(COMPILE) --extra postgres -c requirements/constraints.txt -o requirements/service.txt $(ARGS)

clean: ## Remove the environment, caches and builds
	rm -rf .venv dist .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks training -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(INSTALLED): pyproject.toml requirements/dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Mycel needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "$(PYTHON) cannot make virtual environments; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@
