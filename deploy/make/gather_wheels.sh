#!/bin/sh
# Gathers the wheels of deploy/requirements/bench_gpu.txt into .wheels, which git ignores, at the locked versions, for
# Python 3.12 on x86-64 Linux. deepspeed has no wheel of its own and is built here, without compiled operators,
# of which the engine uses none: AdamW is torch's.
set -eu
cd "$(dirname "$0")/../.."
locks=deploy/requirements
limit_mib=60
# The fields of `pip download` that name the bare machine; manylinux tags are matched exactly.
platforms=$(for tag in manylinux_2_28 manylinux_2_27 manylinux_2_24 manylinux_2_17 manylinux2014 manylinux1; do
  echo "--platform ${tag}_x86_64"; done)

pins=$(grep -v '^#' $locks/bench_gpu.txt | while read -r name; do
  pin=$(cat $locks/engine.lock $locks/dev.lock $locks/web.lock | grep -oiE "^$name==[^ ;]+" | head -1)
  echo "${pin:-$name}"; done)
rm -rf .wheels
mkdir .wheels
for pin in $pins; do
  case $pin in
    deepspeed==*)
      DS_BUILD_OPS=0 .venv/bin/python -m pip --disable-pip-version-check wheel --quiet --no-deps --no-build-isolation \
        --wheel-dir .wheels "$pin" ;;
    *)
      # shellcheck disable=SC2086  (one word for each platform)
      .venv/bin/python -m pip --disable-pip-version-check download --quiet --no-deps --only-binary=:all: \
        --python-version 3.12 --implementation cp $platforms --dest .wheels "$pin" ;;
  esac
done
size_mib=$(du -sm .wheels | cut -f1)
echo "$(find .wheels -name '*.whl' | wc -l) wheels, $size_mib MiB, in .wheels"
if [ "$size_mib" -ge $limit_mib ]; then
  echo "they must stay under $limit_mib MiB to be carried: take one out of $locks/bench_gpu.txt" >&2
  exit 1
fi
