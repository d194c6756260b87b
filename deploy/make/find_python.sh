#!/bin/sh
# Prints the first Python that works: 3.11 or newer, with venv and pip. Says what to install when there is none.
for name in ${TANDEM_PYTHON:-} python3.11 python3.12 python3.13 python3 python; do
  # Version managers put shims on PATH for Pythons that are not there: only running one tells.
  if "$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
    echo "$name"
    exit 0
  fi
done
echo "Tandem needs Python 3.11 or newer with its venv module, and found none." >&2
echo "Debian and Ubuntu: apt-get install python3 python3-venv. Elsewhere set TANDEM_PYTHON=/path/to/python3.11" >&2
exit 1
