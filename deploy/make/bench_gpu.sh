#!/bin/sh
# `make bench-gpu`. A machine that can install the locks measures in .venv. A bare one, whose own Python brings torch,
# gets what else the engine needs from .wheels (`deploy/make/gather_wheels.sh`) in a small environment beside it.
set -eu
cd "$(dirname "$0")/../.."
export PYTHONUNBUFFERED=1
base=${TANDEM_PYTHON:-python3}

if ! { [ -d .wheels ] && "$base" -c 'import torch' >/dev/null 2>&1; }; then
  if [ -d .wheels ] && [ ! -d .venv ]; then
    echo "$base has no torch that can be imported: .wheels are left alone, and the locks are installed into .venv." >&2
    echo "On a bare machine, name the Python that has torch in TANDEM_PYTHON." >&2
  fi
  deploy/make/bootstrap.sh dev
  exec .venv/bin/python -m tests.bench.gpu "$@"
fi

environment=${TANDEM_VAR:-var}/bench-gpu-environment
if [ ! -e "$environment/.ready" ]; then
  # Without pip, which a bare machine may have only outside of environments.
  "$base" -m venv --without-pip --system-site-packages "$environment"
  # A base that is an environment itself is no "system": its packages are added by their folder.
  "$environment/bin/python" - "$("$base" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" <<'PATHS'
import sys, sysconfig
from pathlib import Path

added = f"import site; site.addsitedir({sys.argv[1]!r})\n"
Path(sysconfig.get_path("purelib"), "packages_of_the_base.pth").write_text(added)
PATHS
  "$base" -m pip --python "$environment/bin/python" install --quiet --no-index --no-deps --no-compile .wheels/*.whl
  touch "$environment/.ready"
fi
# `python` is the environment's, here and in every process that the bench starts.
PATH="$(cd "$environment/bin" && pwd):$PATH"
export PATH
exec python -m tests.bench.gpu "$@"
