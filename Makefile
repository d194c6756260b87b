# Everything a newcomer needs: `make demo` and `make test`. `make help` lists the rest.
#
#   TANDEM_PORT=8800        port of the web page
#   TANDEM_VAR=./var        data folder; two stacks need two ports and two folders
#   TANDEM_ONESHOT=1        `make demo` ends with its run, non-zero if the run failed
#   TANDEM_PYTHON=          interpreter for .venv, 3.11 or newer
#   TANDEM_TORCH_INDEX=     further package index for another build of torch (CPU, CUDA, ROCm)

PYTHON := .venv/bin/python
.DEFAULT_GOAL := help
.PHONY: help up demo demo-long test test-full lint types audit contract bundle demo-model tiny-models bench-pipeline bench-tables bench-pipeline-real bench-emulated bench-engine bench-gpu bench-gpu-wheels bench-roofline bench-scheduler bench-transport bench-search bench-algorithms bench-robust bench-robust-tables bench-second-plans bench-suspended-lane bench-overhead bench-overhead-tables bench-pool bench-queue bench-dashboard bench-api bench-staleness lock clean ready ready-dev

help: ## this list
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## /  make \1 \t/' | expand -t 20

# `exec`, so that the command's parent is make itself: when make ends, by kill -9 even, the stack ends.
up: ready ## start everything and serve until Ctrl-C
	@exec $(PYTHON) manage.py up --with-parent

demo: ready ## the same, with a demo run followed in the terminal
	@exec $(PYTHON) manage.py demo --with-parent --preset shapes-demo

demo-long: ready ## the same with the long preset (up to 20 minutes)
	@exec $(PYTHON) manage.py demo --with-parent --preset shapes-long

test: ready-dev ## every check and every test but the slow ones
	@deploy/make/test_needs.sh
	@exec $(PYTHON) deploy/make/checks.py test

test-full: ready-dev ## slow tests too
	@deploy/make/test_needs.sh
	@exec $(PYTHON) deploy/make/checks.py test-full

lint: ready-dev ## ruff and the import walls
	@exec $(PYTHON) deploy/make/checks.py lint

types: ready-dev ## strict mypy
	@exec $(PYTHON) deploy/make/checks.py types

audit: ready-dev ## known vulnerabilities of every locked Python and npm package; part of test-full
	@exec $(PYTHON) deploy/make/checks.py audit

contract: ready-dev ## write the schema of REST and events with its TypeScript types and Python client, and compare with the committed ones
	@exec $(PYTHON) deploy/make/checks.py contract

bundle: ready-dev ## the same, then check and build the frontend and compare it with the committed bundle
	@exec $(PYTHON) deploy/make/checks.py bundle

demo-model: ready ## build the shapes base model afresh (15 to 30 minutes)
	@exec $(PYTHON) -m worker.fixtures.shapes.build

tiny-models: ready ## tiny random checkpoints of every model family, to try one without a download
	@exec $(PYTHON) -m worker.fixtures.tiny_models

bench-pipeline: ready-dev ## every mode on testbeds of published sizes, simulated, against bounds and baselines (3 minutes)
	@exec $(PYTHON) -m tests.bench.pipeline

bench-tables: ready-dev ## the tables of the docs, from the report of bench-pipeline
	@exec $(PYTHON) -m tests.bench.pipeline_tables

bench-pipeline-real: ready-dev ## every mode measured on this machine's cores, in interleaved repeats (some 20 minutes)
	@exec $(PYTHON) -m tests.bench.real

bench-emulated: ready-dev ## the simulator against 8 to 32 emulated lanes on real Ray (some 20 minutes)
	@exec $(PYTHON) -m tests.bench.emulated

bench-engine: ready-dev ## each model family's rates and memory, and what the engine costs over plain diffusers
	@OMP_NUM_THREADS=1 exec $(PYTHON) -m tests.bench.engine

bench-gpu: ## what one card does with the engine and what the planner expects of it (10 minutes; tiny shapes without a card)
	@exec deploy/make/bench_gpu.sh

bench-gpu-wheels: ready-dev ## gather in .wheels what bench-gpu needs on a machine that reaches no package index
	@exec deploy/make/gather_wheels.sh

bench-roofline: ready-dev ## what share of an H100's peak FLUX.1 reaches by arithmetic on its traced operations (2 minutes)
	@exec $(PYTHON) -m tests.bench.roofline

bench-scheduler: ready-dev ## what a decision costs the scheduler with 32 to 4,096 lanes
	@exec $(PYTHON) -m tests.bench.scheduler_scale

bench-transport: ready-dev ## trajectories through shared memory on one node, against a plain copy of their bytes
	@exec $(PYTHON) -m tests.bench.transport

bench-search: ready-dev ## what lending by search gains and loses, over a grid of cost profiles (some 10 minutes)
	@exec $(PYTHON) -m tests.bench.search_grid

bench-algorithms: ready-dev ## a short seeded run of every algorithm on the shapes reward, one thread (some 6 minutes)
	@exec $(PYTHON) -m tests.bench.algorithms

bench-robust: ready-dev ## wrong costs, stragglers, long tails, lanes that come and go; random pools beside the best possible (30 minutes)
	@exec $(PYTHON) -m tests.bench.robust

bench-robust-tables: ready-dev ## the tables of the report on wrong costs, from the report of bench-robust
	@exec $(PYTHON) -m tests.bench.robust_tables

bench-second-plans: ready-dev ## plans on mixed cards made from what an earlier run has measured (4 minutes)
	@exec $(PYTHON) -m tests.bench.second_plans

bench-suspended-lane: ready-dev ## what a run does with one of two lanes that is stopped most of the time (some 10 minutes)
	@exec $(PYTHON) -m tests.bench.suspended_lane

bench-api: ready-dev ## REST on 10,000 runs and 10 million points, and telemetry taken in beside MLflow's log_batch (some 5 minutes)
	@exec $(PYTHON) -m tests.bench.api

bench-staleness: ready-dev ## what is learnt per sample at staleness 0 and 1, three seeds, one thread (some 12 minutes)
	@exec $(PYTHON) -m tests.bench.staleness

bench-overhead: ready-dev ## what the whole stack costs over one process on the demo's work, in turns (some 45 minutes)
	@exec $(PYTHON) -m tests.bench.overhead

bench-overhead-tables: ready-dev ## the tables of the performance page, from the report of bench-overhead
	@exec $(PYTHON) -m tests.bench.overhead_tables

bench-pool: ready-dev ## what 512 GPUs cost: REST, live frames, drawing in a browser, dispatch, lending, history (6 minutes)
	@exec $(PYTHON) -m tests.bench.pool

bench-queue: ready-dev ## what the queue costs with 1,000 runs waiting for 512 GPUs: forecast, dispatch, the page (2 minutes)
	@exec $(PYTHON) -m tests.bench.queue

bench-dashboard: ready-dev ## what the pages cost with a run of a million points, 10,000 runs and 512 GPUs, in a browser (4 minutes)
	@exec $(PYTHON) -m tests.bench.dashboard

chaos: ready-dev ## what faults do to live runs: kills, stops, a full disk, clocks, a partition, torn checkpoints (some 80 minutes)
	@exec $(PYTHON) -m tests.bench.chaos

lock: ready-dev ## rewrite the requirement locks
	@PATH="$(CURDIR)/.venv/bin:$$PATH" exec deploy/requirements/lock.sh

clean: ## remove caches and built requirements; the data folder stays
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache frontend/node_modules frontend/contract/node_modules
	find . -name __pycache__ -type d -not -path './var/*' -prune -exec rm -rf {} +

ready:
	@deploy/make/bootstrap.sh run

ready-dev:
	@deploy/make/bootstrap.sh dev
