#!/usr/bin/env bash
# Runs every test: CTest (GoogleTest), pytest, and the fuzzers for a short while. FUZZ_SECONDS sets how long.
# A test that is skipped fails, unless tests/allowed_skips.txt lists it.
# Everything runs even if something before it failed; the exit code is non-zero if anything did.
set -uo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
failed=0

# Everything that tests leave behind, compiled kernels among it, is in one folder that goes away.
TMPDIR=$(mktemp -d)
export TMPDIR TEST_TMPDIR=$TMPDIR METALLOID_CACHE_DIR=$TMPDIR/cache
trap 'rm -rf "$TMPDIR"' EXIT
# Settings of the person who runs them change no result.
unset METALLOID_TIMEOUT METALLOID_COMPILE_TIMEOUT METALLOID_TRACE METALLOID_DUMP METALLOID_CACHE_SIZE METALLOID_MPS_MACOS

echo "== C++ tests"
rm -rf "$build/test_reports"
ctest --test-dir "$build" --output-on-failure --no-tests=error --timeout 900 -j "$(nproc)" || failed=1
.venv/bin/python scripts/check_skips.py "$build"/test_reports/*.json || failed=1

echo "== Fuzzing for ${FUZZ_SECONDS:=20} s"
scripts/fuzz.sh "$FUZZ_SECONDS" || failed=1

echo "== The device mps for PyTorch"
METALLOID_CACHE_DIR=$PWD/$build/device_cache PYTHONPATH=$PWD/$build/python .venv/bin/python -m metalloid.mps -c 'import torch' ||
  failed=1

echo "== Python tests"
METALLOID_BUILD=$PWD/$build .venv/bin/python -m pytest tests -n "$(nproc)" --no-skips --durations 25 || failed=1
exit $failed
