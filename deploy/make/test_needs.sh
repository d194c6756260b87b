#!/bin/sh
# What `make test` needs from the system: a Chromium for the browser test, and Node for the bundle check.
set -eu
cd "$(dirname "$0")/../.."

if [ ! -x /usr/bin/chromium ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing chromium for the browser test"
    apt-get update -qq >/dev/null
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
  else
    echo "The browser test needs Chromium at /usr/bin/chromium. As root: apt-get install chromium" >&2
    exit 1
  fi
fi

if ! node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' \
  2>/dev/null || ! command -v npm >/dev/null; then
  echo "The bundle check needs Node 20.19 or newer with npm on PATH (running Tandem does not need it)." >&2
  exit 1
fi
