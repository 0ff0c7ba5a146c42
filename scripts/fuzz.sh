#!/usr/bin/env bash
# Runs every fuzzer of tests/fuzz, a number of seconds (default 600) together. Findings land in build/fuzz/FUZZER.
# FUZZERS names the ones to run.
set -uo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${BUILD:-build}")
seconds=${1:-600}
failed=0

# For the standard library, which takes seconds to prepare; what the fuzzers compile goes with it.
if [[ -z ${METALLOID_CACHE_DIR:-} ]]; then
  METALLOID_CACHE_DIR=$(mktemp -d)
  trap 'rm -rf "$METALLOID_CACHE_DIR"' EXIT
fi
export METALLOID_CACHE_DIR METALLOID_CACHE_SIZE=512

# fuzz FUZZER PERCENT [libFuzzer's options and more folders with seeds]
fuzz() {
  local name=$1_fuzzer share=$(($2 * seconds / 100)) folder=$build/fuzz/$1_fuzzer
  shift 2
  [[ " ${FUZZERS:-$name} " == *" $name "* ]] || return 0
  mkdir -p "$folder/corpus"
  if ! "$build/bin/$name" -max_total_time=$((share > 0 ? share : 1)) -rss_limit_mb=6000 -verbosity=0 -print_final_stats=1 \
    -artifact_prefix="$folder/" "$folder/corpus" "$PWD/tests/fuzz/seeds/$name" "$@" >"$folder/log" 2>&1; then
    echo "$name found something:"
    tail -n 60 "$folder/log"
    failed=1
    return
  fi
  echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/log") inputs$(
    sed -n 's/^contained crashes: \(.*\)/, \1 crashes of the compiler contained/p' "$folder/log")"
}

fuzz frontend 35 "$PWD/examples/kernels" -timeout=60 -max_len=4096
fuzz kernel 35 -timeout=120 -max_len=1000
fuzz command_line 15 -timeout=60 -max_len=1000 -close_fd_mask=3
fuzz npy 8 -timeout=10 -max_len=1000
fuzz cache_entry 7 -timeout=10 -max_len=4000
exit $failed
