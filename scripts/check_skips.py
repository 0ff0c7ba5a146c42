#!/usr/bin/env python3
"""Fails if tests were skipped that tests/allowed_skips.txt does not list.

    scripts/check_skips.py REPORT.json...    reports of GoogleTest (GTEST_OUTPUT=json:...)

tests/conftest.py asks the same of pytest's.
"""

import fnmatch
import json
import pathlib
import sys

LIST = pathlib.Path(__file__).resolve().parent.parent / "tests" / "allowed_skips.txt"


def allowed_skips() -> list[str]:
    """Patterns of the names of tests."""
    lines = [line.strip() for line in LIST.read_text().splitlines()]
    pairs = [line.rpartition(": ") for line in lines if line and not line.startswith("#")]
    assert all(pattern and reason for pattern, _, reason in pairs), f"{LIST}: a line without a reason"
    return [pattern for pattern, _, _ in pairs]


def may_be_skipped(name: str, patterns: list[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def skipped_in(report: dict) -> list[str]:
    return [
        f"{suite['name']}.{test['name']}"
        for suite in report["testsuites"]
        for test in suite["testsuite"]
        if test.get("result") == "SKIPPED"
    ]


def main() -> int:
    patterns = allowed_skips()
    if not sys.argv[1:]:
        print("no reports", file=sys.stderr)
        return 1
    unlisted = [
        name
        for path in sys.argv[1:]
        for name in skipped_in(json.loads(pathlib.Path(path).read_text()))
        if not may_be_skipped(name, patterns)
    ]
    for name in unlisted:
        print(f"{name} was skipped, and {LIST.name} does not say that it may be", file=sys.stderr)
    return 1 if unlisted else 0


if __name__ == "__main__":
    sys.exit(main())
