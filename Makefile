# The two commands of a newcomer are `make up` and `make test`; both install what they need into .venv first.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The programs among the modules of benchmarks/.
BENCHMARKS := platform broker registry rest connect sql

# Where the environment forbids to write bytecode, each of the thousand processes that tests start would compile its modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help up test test-long test-cluster check lint types tidy spark provision bench clean

help:
	@echo "make up      start the platform (data in ./barnabas-data; Ctrl-C stops it)"
	@echo "make test    every check and every test"
	@echo "make test-long   the tests that take many minutes: clusters, and random queries compared with a recomputation"
	@echo "make test-cluster   the demo on clusters of Apache Kafka and of Spark"
	@echo "make check   lint, format, types and tidy rules only"
	@echo "make bench   every benchmark, ours beside the peer"
	@echo "make clean   remove what make built; data stays"

up: spark
	$(BIN)/barnabas up

# Java and the jars of Spark's Kafka connector, where they are missing.
spark: $(VENV)/installed
	$(BIN)/python -m deploy.spark

# Four workers: much of the suite waits for other processes, and each starts Spark and Apache Kafka once. A file stays with one of them, since its tests share what is started.
# What is installed on a fresh machine takes minutes of its own, which are told apart from the tests'.
test:
	@$(call timed,set-up,$(MAKE) --no-print-directory provision)
	@$(call timed,checks,$(MAKE) --no-print-directory lint types)
	@$(call timed,tests,$(BIN)/python -m pytest --numprocesses 4 --dist loadfile --no-loadscope-reorder)

timed = begun=$$(date +%s); $(2) || exit; echo "$(1) took $$(($$(date +%s) - begun)) s"

# Those of `make test-cluster`, and random SQL queries by the thousand. One at a time: each of them loads both cores.
test-long: provision
	$(BIN)/python -m pytest -m "long or cluster"

# The demo on three nodes of Apache Kafka, one of which is killed, and on a Spark cluster. `make test` has shorter tests of both.
test-cluster: provision
	$(BIN)/python -m pytest -m cluster tests/e2e

check: lint types tidy

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-dev
	$(BIN)/mypy

tidy: $(VENV)/installed-dev
	$(BIN)/python -m pytest -q tests/test_tidy.py

provision: $(VENV)/installed-dev
	$(BIN)/python -m tests.provision

bench: provision
	@set -e; for program in $(BENCHMARKS); do echo "== $$program"; $(BIN)/python -m "benchmarks.$$program"; done

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps depend on pyproject.toml, so that an installation is repeated when a dependency changes, and only then.
$(VENV)/installed: pyproject.toml deploy/virtual_environment.py
	$(PYTHON) deploy/virtual_environment.py $(VENV) --extra all
	touch $@

$(VENV)/installed-dev: pyproject.toml deploy/virtual_environment.py
	$(PYTHON) deploy/virtual_environment.py $(VENV) --extra dev
	touch $(VENV)/installed $@
