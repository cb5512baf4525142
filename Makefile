# The developers' commands; `make` lists them. All but `make ci` use the environment in .venv, which
# `make venv` creates.
BIN = .venv/bin

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

venv: ## create .venv with everything the tests need
	python3 -m venv .venv && $(BIN)/pip install -q -e '.[dev]'

test: ## run the tests, on two cores; without the campaigns
	$(BIN)/pytest -n 2

quick: ## run the tests that take no more than a few seconds
	$(BIN)/pytest -n 2 -m "not slow and not campaign"

campaigns: ## run the tests that take minutes each
	$(BIN)/pytest -n 2 -m campaign

lint: ## ruff and mypy, as CI runs them
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

format: ## format the code
	$(BIN)/ruff check --fix . ; $(BIN)/ruff format .

ci: ## what must pass before a change lands, in a fresh environment of its own
	bash .ci/run

reproduce: ## the papers' tables, published and ours
	$(BIN)/coterie reproduce

bench: ## the benchmark: a table, and benchmarks/results/bench.json
	$(BIN)/python benchmarks/bench.py

pictures: ## draw the docs' pictures anew
	$(BIN)/python docs/pictures.py && $(BIN)/python docs/gallery.py && $(BIN)/python docs/page_pictures.py

docs: ## build the site into build/site; its first page is index.html
	$(BIN)/python -m sphinx -b html -W -n --keep-going -q -d build/doctrees docs build/site

schemas: ## write the JSON schemas of the facts anew
	$(BIN)/python docs/schemas.py

clean: ## remove caches, the compiled kernels among them
	rm -rf .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

.DEFAULT_GOAL := help
.PHONY: help venv test quick campaigns lint format ci reproduce bench pictures docs schemas clean
