# Each command sets up .venv by itself on a machine that has Python 3.11 or newer, make and a package index.
#
#   make demo       a first look: installs only the core
#   make test       the whole suite; ARGS goes to pytest:  make test ARGS="tests/house -q"
#   make quick      the everyday part of it: all but the tests marked slow
#   make coverage   the lines and branches that no everyday test reaches, of commands and lessons no test; of each
#                   package, and of the modules beside them, 95 % must be reached
#   make mutants    whether the tests notice small mistakes: a sample of each package and of the modules beside them,
#                   85 % must be noticed; takes a while
#   make lint       ruff, mypy and the import contracts: what the suite checks too, without running a test
#   make fix        what ruff can put right by itself
#   make lessons    list the lessons, and how to open them
#   make browser    build the lessons' site, and run it in a browser without a window; LABKIT_PYODIDE_WHEELS names the
#                   folder of the wheels that were compiled for Pyodide; so too lessons as nbconvert exports them, which
#                   axe judges where LABKIT_AXE names its axe.min.js
#   make notebook   install JupyterLab into .venv and open the lessons in the browser
#   make dist       the wheel and the source distribution, in dist/
#   make bench      the goals of speed: measured today, of a version before, and of what else there is, by turns;
#                   ARGS goes to tests/bench/side_by_side.py:  make bench ARGS="--rows KV --revision v0.9.0"
#   make benches    every other measurement of tests/bench
#   make pictures   a contact sheet of every picture in light, dark and grey, at three widths, to be looked at; needs a
#                   browser; ARGS is a folder, by default build/pictures
#   make prove      search replication, election, client and operation token to the end, within bounds that take minutes
#   make conformance URL=http://127.0.0.1:8200 TOKEN=…   the recorded answers, asked again of any server of this API,
#                   under paths of its own, which are removed; prints where the server, the record and labkit differ;
#                   ARGS is beginnings of cases, such as core or logins.approle
#   make hunt       whether what searches for failures finds what is planted, accuses nothing else, and is the same
#                   everywhere: explore, when and sweep, in minutes
#   make zoo        every mistake of tests/zoo planted, and found in its pinned number of drawn schedules; 500 of each
#                   control and of the clean build, in which nothing breaks; half an hour
#   make zoo-long   2,000 of these, and the rates from which the pinned numbers come, measured again
#   make torture    500,000 odd requests, 1,000 random labs, 1,000 whose nodes lead in turn, 1,000 recounts of losses;
#                   ARGS is requests and a seed; 50 labs saved and opened elsewhere, 100,000 lab files with anything
#                   changed in them; 400 stolen keys; 32 clients of a served door for 20 s, 10,000 mutilated requests
#                   to it, 10,000 with late bytes, the worst bodies; 100,000 requests to clusters of which one has no
#                   memory; 20 forks over each kind of thing that may be shared; 10,000 drawn runs, each in every way,
#                   which takes hours
#
# PYTHON=/path/to/python3 chooses the interpreter, VENV=folder another place for the environment.

VENV ?= .venv
PYTHON ?=
ARGS ?=

# Start-up is measured and felt with compiled modules, so they are written whatever the caller's shell says.
unexport PYTHONDONTWRITEBYTECODE

# The packages whose coverage is measured, by the tests that mirror them: all.
COVERED = $(patsubst labkit/%/__init__.py,%,$(wildcard labkit/*/__init__.py))

# JupyterLab refuses to run as root, as whoever works in a container is, unless it is asked to.
AS_ROOT = $(if $(filter 0,$(shell id -u)),--allow-root)

INSTALL = $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test quick coverage mutants lint fix lessons browser notebook dist bench benches pictures prove conformance hunt zoo zoo-long torture

demo: $(VENV)/core
	@$(VENV)/bin/labkit demo $(ARGS)

test: $(VENV)/dev
	@$(VENV)/bin/python -m pytest -n 2 --dist worksteal $(ARGS) < /dev/null

quick: $(VENV)/dev
	@$(VENV)/bin/python -m pytest -n 2 --dist worksteal -m "not slow" $(ARGS) < /dev/null

# Every process that a test starts is measured, and writes what it saw to a file of its own; one that a test killed
# leaves half a file.
coverage: $(VENV)/dev
	@rm -f .coverage .coverage.*
	@COVERAGE_PROCESS_START="$(CURDIR)/pyproject.toml" COVERAGE_FILE="$(CURDIR)/.coverage" \
	    $(VENV)/bin/python -m pytest -n 2 --dist worksteal -m "not slow" \
	    tests/test_*.py $(COVERED:%=tests/%) $(ARGS) < /dev/null
	@COVERAGE_PROCESS_START="$(CURDIR)/pyproject.toml" COVERAGE_FILE="$(CURDIR)/.coverage" \
	    $(VENV)/bin/python -m pytest -n 2 --dist worksteal -m slow tests/commands tests/lessons $(ARGS) < /dev/null
	@PYTHONWARNINGS=ignore $(VENV)/bin/coverage combine --quiet
	@rm -f .coverage.*
	@$(VENV)/bin/coverage report
	@set -e; for files in '*.py' $(COVERED:%='%/*'); do \
	    printf '%s, lines and branches together, in percent: ' "labkit/$$files"; \
	    $(VENV)/bin/coverage report --include="labkit/$$files" --format=total --precision=1 --fail-under=95; \
	done

mutants: $(VENV)/dev
	@$(VENV)/bin/python -m tests.mutants $(ARGS)

lint: $(VENV)/dev
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy
	@$(VENV)/bin/lint-imports

fix: $(VENV)/dev
	@$(VENV)/bin/ruff check --fix .
	@$(VENV)/bin/ruff format .

lessons: $(VENV)/core
	@$(VENV)/bin/labkit lessons $(ARGS)

browser: $(VENV)/site
	@$(VENV)/bin/python -m pytest tests/lessons/test_site_in_a_browser.py $(ARGS) < /dev/null
	@$(VENV)/bin/python -m pytest tests/lessons/test_exports_in_a_browser.py $(ARGS) < /dev/null

notebook: $(VENV)/notebook
	@$(VENV)/bin/python -m jupyterlab notebooks $(AS_ROOT) $(ARGS)

dist: $(VENV)/dev
	@$(VENV)/bin/python -m hatchling build $(ARGS)

bench: $(VENV)/dev
	@$(VENV)/bin/python tests/bench/side_by_side.py $(ARGS)

benches: $(VENV)/dev
	@set -e; for script in tests/bench/bench_*.py; do \
	    echo "== $$script"; $(VENV)/bin/python "$$script" $(ARGS); \
	done

# Whoever drew something new looks at all of it: build/pictures, or the folder that ARGS names.
pictures: $(VENV)/dev
	@$(VENV)/bin/python -m tests.pictures $(ARGS)

prove: $(VENV)/core
	@$(VENV)/bin/labkit prove replication --writes 2 --cuts 1 --restarts 1 --takeovers 1
	@$(VENV)/bin/labkit prove replication --writes 3 --cuts 2 --restarts 1 --late --no-leads-on
	@$(VENV)/bin/labkit prove election --terms 4 --damages 2
	@$(VENV)/bin/labkit prove client --nodes 2 --retries 2
	@$(VENV)/bin/labkit prove operation-token --attempts 3 --mistakes 3

conformance: $(VENV)/dev
	@$(VENV)/bin/python -m tests.conformance.against "$(URL)" "$(TOKEN)" $(ARGS)

hunt: $(VENV)/hunt
	@$(VENV)/bin/python -m tests.hunt.acceptance

zoo: $(VENV)/dev
	@$(VENV)/bin/python -m tests.zoo.campaigns

zoo-long: $(VENV)/dev
	@$(VENV)/bin/python -m tests.zoo.campaigns --long

torture: $(VENV)/dev
	@$(VENV)/bin/python tests/torture/test_odd_requests.py $(ARGS)
	@$(VENV)/bin/python tests/torture/test_random_labs.py
	@$(VENV)/bin/python tests/torture/test_leaders_in_turn.py
	@$(VENV)/bin/python tests/torture/test_lab_files.py
	@$(VENV)/bin/python tests/lab/test_losses_recounted.py
	@$(VENV)/bin/python tests/scenario/test_drawn_files.py
	@$(VENV)/bin/python tests/torture/test_stolen_keys.py
	@$(VENV)/bin/python tests/torture/test_served_door.py
	@$(VENV)/bin/python tests/caches/test_random_requests.py
	@$(VENV)/bin/python -W ignore::DeprecationWarning tests/torture/test_forks.py
	@$(VENV)/bin/python -m tests.hunt.drawn_runs 10000

# What is installed is remembered by an empty file in the environment; a newer pyproject.toml installs again.
$(VENV)/core: pyproject.toml $(VENV)/bin/python
	@echo "installing labkit into $(VENV): a minute or two, once, and when pyproject.toml changes ..."
	@$(INSTALL) --editable .
	@touch $@

$(VENV)/notebook: pyproject.toml $(VENV)/bin/python
	@echo "installing labkit and JupyterLab into $(VENV): a minute or two, once, and when pyproject.toml changes ..."
	@$(INSTALL) --editable '.[notebook]'
	@touch $(VENV)/core $@

$(VENV)/site: pyproject.toml $(VENV)/bin/python
	@echo "installing labkit, its tests, JupyterLite and JupyterLab into $(VENV): some minutes, once, and when pyproject.toml changes ..."
	@$(INSTALL) --editable '.[dev,site,notebook]'
	@touch $(VENV)/core $(VENV)/dev $@

$(VENV)/dev: pyproject.toml $(VENV)/bin/python
	@echo "installing labkit and what its tests use into $(VENV): some minutes, once, and when pyproject.toml changes ..."
	@$(INSTALL) --editable '.[dev]'
	@touch $(VENV)/core $@

$(VENV)/hunt: pyproject.toml $(VENV)/bin/python
	@echo "installing labkit, Dask and what tests use into $(VENV): some minutes, once and when pyproject.toml changes ..."
	@$(INSTALL) --editable '.[dev,dask]'
	@touch $(VENV)/core $(VENV)/dev $@

# A name on PATH proves nothing: a version manager's shim may refuse to run, a distribution may leave out venv.
# So each candidate is run, and must import what the environment and labkit need.
$(VENV)/bin/python:
	@works() { \
	    [ -x "$$1" ] && "$$1" -c 'import ensurepip, sqlite3, ssl, sys, venv; sys.exit(sys.version_info < (3, 11))' \
	        < /dev/null > /dev/null 2>&1; \
	}; \
	candidates() { \
	    if [ -n "$(PYTHON)" ]; then command -v "$(PYTHON)"; return; fi; \
	    for name in python3.11 python3.12 python3.13 python3.14 python3.15 python3.16 python3.17 python3; do \
	        (IFS=:; set -f; for folder in $$PATH; do printf '%s\n' "$$folder/$$name"; done); \
	    done; \
	    for path in "$$HOME"/.pyenv/versions/*/bin/python3; do printf '%s\n' "$$path"; done; \
	}; \
	chosen=$$(candidates | while IFS= read -r path; do \
	    if works "$$path"; then printf '%s\n' "$$path"; break; fi; \
	done); \
	if [ -z "$$chosen" ]; then \
	    echo "labkit needs Python 3.11 or newer with its venv, ssl and sqlite3 modules, and none was found on PATH;" >&2; \
	    echo "install one (on Debian also its -venv package), or name it: make PYTHON=/path/to/python3" >&2; \
	    exit 1; \
	fi; \
	echo "making $(VENV) with $$chosen"; \
	"$$chosen" -m venv --clear "$(VENV)"
