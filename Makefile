# Every target makes and reuses .venv by itself; it is installed anew only when pyproject.toml or the pins change.
#
# requirements/constraints.txt pins every extra; the other lists are parts of it, with the same versions:
# run.txt is what `make serve` needs, dev.txt what development needs, service.txt a node, build.txt what an editable
# install is made with. docs.txt, for `make docs`, goes into .venv-docs and is no part of the others. Each is a complete list for `pip install --require-hashes -r`, followed by the project with
# `--no-deps`: as `-c` constraints, their hashes would make pip refuse the project's own folder.

PYTHON ?= python3
ARGS ?=

BIN := .venv/bin
# Made by set-up: all that running Mycel needs, and all that working on it needs.
READY := .venv/.ready
INSTALLED := .venv/.installed
DOCS_READY := .venv-docs/.ready
# A third of the time a worker waits, for a process or for a moment to pass.
SUITE := $(BIN)/pytest -n 3 --dist worksteal
PINNING := --quiet --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock"
COMPILE := $(BIN)/uv pip compile pyproject.toml $(PINNING)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo serve serve-postgres test check bench bench-peers proof docs docs-serve lock dist release format clean

help: ## Show the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

demo: $(READY) ## See Mycel at work in half a minute
	@$(BIN)/mycel demo $(ARGS)

serve: $(READY) ## Start the service (ARGS="--port 7077")
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

docs: $(DOCS_READY) ## Build the documentation as a site in ./site, and check its links
	.venv-docs/bin/python -m scripts.docs_site

docs-serve: docs ## Show the documentation on http://127.0.0.1:8000 (ARGS="8001" for another port)
	.venv-docs/bin/python -m http.server --bind 127.0.0.1 --directory site $(ARGS)

dist: $(INSTALLED) ## Build the wheel and the sdist into dist, and prove that they can be built again
	$(BIN)/python -m scripts.release build dist

release: $(INSTALLED) ## Turn Unreleased into a version (VERSION=0.2.0)
	$(BIN)/python -m scripts.release prepare "$(VERSION)"
	$(MAKE) $(INSTALLED)
	$(BIN)/python -m scripts.plugins

format: $(INSTALLED) ## Fix what the linter can and format the code
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

lock: $(INSTALLED) ## Pin the dependencies of pyproject.toml (ARGS="--upgrade" for newer versions)
	$(COMPILE) --all-extras --group build -o requirements/constraints.txt $(ARGS)
	$(COMPILE) -c requirements/constraints.txt -o requirements/run.txt $(ARGS)
	$(BIN)/uv pip compile --group build $(PINNING) -c requirements/constraints.txt -o requirements/build.txt $(ARGS)
	$(COMPILE) --extra dev --group build -c requirements/constraints.txt -o requirements/dev.txt $(ARGS)
	$(COMPILE) --extra postgres -c requirements/constraints.txt -o requirements/service.txt $(ARGS)
	$(BIN)/uv pip compile --group docs $(PINNING) -o requirements/docs.txt $(ARGS)
	$(BIN)/python -m scripts.sbom

clean: ## Remove the environment, caches and builds
	rm -rf .venv .venv-docs site dist .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks training -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# The tests need all that running needs, so their set-up counts for both.
$(INSTALLED): pyproject.toml requirements/dev.txt requirements/build.txt
	@$(PYTHON) scripts/set_up.py dev
	@touch $(READY) $@

$(DOCS_READY): requirements/docs.txt
	@$(PYTHON) scripts/set_up.py docs
	@touch $@

$(READY): pyproject.toml requirements/run.txt requirements/build.txt
	@$(PYTHON) scripts/set_up.py run
	@touch $@
