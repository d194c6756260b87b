#!/usr/bin/env bash
# Rewrites the locks from the .in files. Torch and its CUDA packages are left out of engine.lock:
# torch.txt installs them first, so that a machine may bring its own build (CPU, CUDA, ROCm).
set -euo pipefail
cd "$(dirname "$0")"
compile() {
  uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
    --no-header --quiet "$@"
}
compile web.in -o web.lock
torch_closure=$(uv pip compile --universal --python-version 3.11 --no-header --no-annotate --quiet torch.txt |
  grep -oE '^(torch|triton|cuda-[a-z]+|nvidia-[a-z0-9-]+)==' | tr -d '=' | sed 's/^/--no-emit-package /')
# shellcheck disable=SC2086
compile engine.in -c web.lock -c torch.txt $torch_closure -o engine.lock
# MLflow takes no importlib-metadata from 10 on, for no reason that its tests or ours show; all other pins hold.
compile mirrors.in -c web.lock -c engine.lock --override <(echo importlib-metadata) -o mirrors.lock
# shellcheck disable=SC2086
compile dev.in -c web.lock -c engine.lock -c mirrors.lock $torch_closure -o dev.lock
