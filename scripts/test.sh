#!/usr/bin/env bash
# Runs the tests: CTest (GoogleTest) and pytest.
#   scripts/test.sh quick   those that touch everything in minutes; kernels that an earlier run has compiled are kept
#   scripts/test.sh all     those, then the others (tests/slow_tests.txt), and the fuzzers for a short while:
#                           FUZZ_SECONDS sets how long; all kernels are compiled anew
# A test that is skipped fails, unless tests/allowed_skips.txt lists it.
# Everything runs even if something before it failed; the exit code is non-zero if anything did, and the last lines say what.
set -uo pipefail
cd "$(dirname "$0")/.."
tier=${1:-all}
build=${BUILD:-build}
failed=()

# What tests leave behind is in one folder that goes away. Compiled kernels, which the C++ tests and pytest's share, and
# the device mps stay for the next run.
TMPDIR=$(mktemp -d)
export TMPDIR TEST_TMPDIR=$TMPDIR METALLOID_CACHE_DIR=$PWD/$build/test_cache
if [[ "$tier" == all && -d "$METALLOID_CACHE_DIR" ]]; then
  find "$METALLOID_CACHE_DIR" -mindepth 1 -maxdepth 1 ! -name extensions -exec rm -rf {} +
fi
trap 'rm -rf "$TMPDIR"' EXIT
# Settings of the person who runs them change no result.
unset METALLOID_TIMEOUT METALLOID_COMPILE_TIMEOUT METALLOID_TRACE METALLOID_DUMP METALLOID_CACHE_SIZE METALLOID_MPS_MACOS

# run_ctest PART [options]
run_ctest() {
  local part=$1
  shift
  ctest --test-dir "$build" --output-on-failure --no-tests=error --timeout 86400 -j "$(nproc)" "$@" ||
    failed+=("$part: $(cut -d : -f 2 "$build/Testing/Temporary/LastTestsFailed.log" | paste -sd ' ')
$(grep -F '[  FAILED  ]' "$build/Testing/Temporary/LastTest.log" | sort -u | cut -c 1-200 | head -n 5)")
}
# run_pytest PART [options]
# Each process has a part of the list in order, so that what the tests of a file share is made once; who is done first takes
# from the others.
run_pytest() {
  local part=$1
  shift
  METALLOID_BUILD=$PWD/$build .venv/bin/python -m pytest tests -n "$(nproc)" --dist worksteal --no-skips --durations 25 \
    --kernel-cache "$METALLOID_CACHE_DIR" "$@" | tee "$TMPDIR/pytest.log" ||
    failed+=("$part: $(grep -E '^(FAILED|ERROR) ' "$TMPDIR/pytest.log" | cut -c 1-200 | head -n 5)")
}

echo "== Quick C++ tests"
rm -rf "$build/test_reports"
run_ctest "Quick C++ tests" -LE slow

echo "== The device mps for PyTorch"
PYTHONPATH=$PWD/$build/python .venv/bin/python -m metalloid.mps -c 'import torch' ||
  failed+=("The device mps for PyTorch")

echo "== Quick Python tests"
run_pytest "Quick Python tests" --quick

if [[ "$tier" == all ]]; then
  echo "== All other C++ tests"
  run_ctest "All other C++ tests" -L slow
  echo "== Fuzzing for ${FUZZ_SECONDS:=20} s"
  scripts/fuzz.sh "$FUZZ_SECONDS" || failed+=("Fuzzing: $(grep -hE -m 1 'ERROR|SUMMARY' "$build"/fuzz/*/log)")
  echo "== All other Python tests"
  run_pytest "All other Python tests" --slow
fi
.venv/bin/python scripts/check_skips.py "$build"/test_reports/*.json || failed+=("Skipped C++ tests")
if ((${#failed[@]})); then
  printf 'Failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
