# Layout algebra. `make` alone says what there is to make; every target sets up what it needs.

PY := .venv/bin/python
EXTRAS := dev,recheck
# Which Python .venv is made with: the first of these that is new enough and can make one.
PYTHON ?=
CANDIDATES := $(if $(PYTHON),"$(PYTHON)",python3.12 python3.11 python3)
# For `make test ARGS="-k swizzle"` and the like.
ARGS ?=
JOBS ?= 2
MINUTES ?= 60

.DEFAULT_GOAL := help

.PHONY: help
help: ## what there is to make (this text)
	@awk -F ':[^#]*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

.PHONY: prove
prove: setup ## prove everything in proofs/, print a table, write build/ledger.json
	@mkdir -p build
	.venv/bin/layout-algebra prove proofs/ --ledger build/ledger.json $(ARGS)

.PHONY: test
test: lint ## everything that must hold before a change goes in (ARGS="-k name" for less)
	$(PY) -m pytest -n $(JOBS) --dist worksteal -p no:benchmark $(ARGS)

.PHONY: lint
lint: setup ## style, types, and who may import whom
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 .venv/bin/pyright
	.venv/bin/lint-imports --no-logo

.PHONY: format
format: setup ## let ruff mend what it can
	.venv/bin/ruff check --fix
	.venv/bin/ruff format

.PHONY: crosscheck
crosscheck: setup ## everything that needs a GPU (and the extra `cuda`)
	$(PY) -m pytest tests/gpu -m gpu -p no:benchmark $(ARGS)

.PHONY: docs
docs: setup ## build the documentation into build/docs (needs the extra `docs`)
	$(PY) -m sphinx -W --keep-going -q -E -b html docs build/docs

.PHONY: recheck
recheck: setup ## ask cvc5 and bitwuzla about every query of build/ledger.json
	.venv/bin/layout-algebra recheck build/ledger.json $(ARGS)

.PHONY: soundness
soundness: setup ## random layouts against brute force, for MINUTES=60
	$(PY) -m tests.soundness --minutes $(MINUTES) $(ARGS)

.PHONY: bench
bench: setup ## how fast things are: reported, never asserted
	@mkdir -p build
	$(PY) -m pytest tests/benchmarks -p no:xdist --benchmark-json=build/benchmarks.json $(ARGS)

.PHONY: clean
clean: ## remove what was built, except .venv
	rm -rf build dist .pytest_cache .ruff_cache .import_linter_cache .hypothesis .benchmarks
	find . -name .venv -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: setup
setup: ## make .venv and install what is missing; nothing to do when up to date
	@sh -euc "$$SETUP"

# .venv/made-from holds the folder that .venv was made in, which its scripts name, and what was
# installed. It is written last: a .venv without it is half made, and is made again from nothing.
define SETUP
folder() { head -n 1 .venv/made-from 2>/dev/null || true; }
wanted() { echo "$$PWD"; echo "[$(EXTRAS)]"; cat pyproject.toml; }
usable() { "$$@" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
release() { "$$1" -c 'import sys; print(sys.base_prefix, sys.version)' 2>/dev/null || echo none; }
as_asked() { [ -z "$(PYTHON)" ] || [ "$$(release "$(PYTHON)")" = "$$(release $(PY))" ]; }

if [ "$$(folder)" = "$$PWD" ] && usable $(PY) && as_asked; then
    if [ "$$(wanted)" = "$$(cat .venv/made-from)" ]; then exit 0; fi
    rm .venv/made-from
else
    python=
    for candidate in $(CANDIDATES); do
        if usable "$$candidate"; then python=$$candidate; break; fi
    done
    if [ -z "$$python" ]; then
        echo "make setup: this needs Python 3.11 or newer, with its venv and ensurepip modules. Found:" >&2
        for candidate in $(CANDIDATES); do
            echo "    $$candidate: $$("$$candidate" -c 'if True:
                import importlib.util, sys
                missing = [m for m in ("venv", "ensurepip") if not importlib.util.find_spec(m)]
                print(sys.version.split()[0], *("without " + m for m in missing))
            ' 2>/dev/null || echo "not found, or does not run")" >&2
        done
        echo "Install one (on Debian and Ubuntu: python3 and python3-venv), or name the one to use:" >&2
        echo "    make setup PYTHON=/path/to/python3" >&2
        exit 1
    fi
    echo "make setup: making .venv with $$("$$python" --version)"
    rm -rf .venv
    "$$python" -m venv .venv
fi
echo "make setup: installing layout-algebra[$(EXTRAS)] into .venv (this can take some minutes)"
$(PY) -m pip install --quiet --disable-pip-version-check --no-input --editable ".[$(EXTRAS)]"
wanted > .venv/made-from.new
mv .venv/made-from.new .venv/made-from
endef
export SETUP
