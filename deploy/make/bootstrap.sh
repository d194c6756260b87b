#!/bin/sh
# Fills .venv from the locks, once per content of the locks. Arguments: `run` or `dev`.
#
# torch comes first and unhashed, so that a machine may bring its own build: TANDEM_TORCH_INDEX names a further index.
set -eu
cd "$(dirname "$0")/../.."
locks=deploy/requirements
kind=$1

key_of() { cat "$@" | sha256sum | cut -c1-16; }

run_key=$(key_of $locks/torch.txt $locks/web.lock $locks/engine.lock)
dev_key=$(key_of $locks/dev.lock $locks/mirrors.lock)
python=.venv/bin/python
pip="$python -m pip --disable-pip-version-check --quiet"

if [ ! -e ".venv/.run-$run_key" ]; then
  base=$(deploy/make/find_python.sh)
  if ! $pip --version >/dev/null 2>&1; then
    echo "Creating .venv with $base"
    rm -rf .venv
    "$base" -m venv .venv
  fi
  echo "Installing the locked requirements (a few minutes the first time)"
  $pip install ${TANDEM_TORCH_INDEX:+--extra-index-url "$TANDEM_TORCH_INDEX"} -r $locks/torch.txt
  $pip install --no-deps --require-hashes -r $locks/web.lock -r $locks/engine.lock
  rm -f .venv/.run-*
  touch ".venv/.run-$run_key"
fi
if [ "$kind" = dev ] && [ ! -e ".venv/.dev-$dev_key" ]; then
  echo "Installing the locked test requirements"
  $pip install --no-deps --require-hashes -r $locks/dev.lock -r $locks/mirrors.lock
  rm -f .venv/.dev-*
  touch ".venv/.dev-$dev_key"
fi
