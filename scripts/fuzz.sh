#!/usr/bin/env bash
# Feeds mutated kernels to the front end for a number of seconds (default 600). Findings land in build/fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
seconds=${1:-600}
mkdir -p "$build/fuzz/corpus"
if ! "$build/bin/frontend_fuzzer" -max_total_time="$seconds" -timeout=30 -rss_limit_mb=6000 -max_len=4096 \
  -verbosity=0 -print_final_stats=1 -artifact_prefix="$build/fuzz/" "$build/fuzz/corpus" tests/fuzz/seeds examples/kernels \
  >"$build/fuzz/log" 2>&1; then
  tail -n 60 "$build/fuzz/log"
  exit 1
fi
sed -n 's/^stat::number_of_executed_units: */inputs tried: /p; /^contained crashes/p' "$build/fuzz/log"
