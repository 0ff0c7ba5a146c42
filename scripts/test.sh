#!/usr/bin/env bash
# Runs every test: CTest (GoogleTest), pytest, and the fuzzer for a short while. FUZZ_SECONDS sets how long.
# Everything runs even if something before it failed; the exit code is non-zero if anything did.
set -uo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
failed=0

# Compiled kernels of other runs stay out of the tests' way.
METALLOID_CACHE_DIR=$(mktemp -d)
export METALLOID_CACHE_DIR
trap 'rm -rf "$METALLOID_CACHE_DIR"' EXIT

echo "== C++ tests"
ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$(nproc)" || failed=1

echo "== Fuzzing the front end for ${FUZZ_SECONDS:=20} s"
scripts/fuzz.sh "$FUZZ_SECONDS" || failed=1

echo "== Python tests"
METALLOID_BUILD=$PWD/$build .venv/bin/python -m pytest tests || failed=1
exit $failed
