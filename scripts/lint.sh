#!/usr/bin/env bash
# What is quick to find: ruff and mypy in Python, clang-format in C++. clang-tidy is scripts/clang_tidy.py.
# Everything runs even if something before it failed; the exit code is non-zero if anything did.
set -uo pipefail
cd "$(dirname "$0")/.."
failed=0

check() {
  echo "== $1"
  shift
  local start=$SECONDS
  "$@" || failed=1
  echo "($((SECONDS - start)) s)"
}
# A checkout may be somebody else's (a container's).
mapfile -t sources < <(git -c safe.directory="$PWD" ls-files '*.cpp' '*.h')
((${#sources[@]})) || { echo "this is no checkout of git" >&2; exit 1; }

check ruff .venv/bin/ruff check --quiet .
check mypy .venv/bin/mypy
check clang-format clang-format-22 --dry-run --Werror "${sources[@]}"
exit $failed
