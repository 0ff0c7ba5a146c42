#!/usr/bin/env python3
"""Runs PyTorch's OpInfo on the device mps against the CPU, and says what it saw.

Results are appended to a file, a line of JSON each; operators that it has are not run again, so that an interrupted run goes on.
Beside it comes a table by operator; docs/operators.md is written only where that is asked for.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
import time

import expected_failures
import operator_page
import operator_workers

root = pathlib.Path(__file__).resolve().parent.parent
RESULTS = root / "build" / "operators.jsonl"
PAGE = root / "docs" / "operators.md"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="at most N samples of an operator and a type")
    parser.add_argument("--dtypes", default="", metavar="LIST", help="with commas: float32,int64 (default: all)")
    parser.add_argument("--op", action="append", default=[], metavar="NAME", help="as OpInfo names it; several times")
    parser.add_argument("--shard", default="1/1", metavar="I/N", help="every Nth operator, from the Ith on")
    parser.add_argument("--seconds", type=float, default=60, help="for an operator and a type (default: 60)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one for each core)")
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS, metavar="FILE")
    parser.add_argument("--check", action="store_true", help="run kernels under the checker (docs/checker.md); with a results file of its own")
    parser.add_argument("--again", action="store_true", help="forget the results file's")
    parser.add_argument("--wrong", action="store_true", help="only what the results file has as wrong, again")
    parser.add_argument("--publish", action="store_true", help="write docs/operators.md, for which no result may be missing")
    options = parser.parse_args()
    if options.check and options.publish:
        parser.error("docs/operators.md is about runs without --check")
    if options.check and options.results == RESULTS:
        options.results = RESULTS.with_name("operators_checked.jsonl")

    about = _about()
    known = _read(options.results) if not options.again else {}
    excuses = expected_failures.read()
    part, parts = map(int, options.shard.split("/"))
    jobs = [
        {"op": name, "dtype": dtype, "samples": options.sample, "seconds": options.seconds, "check": options.check}
        for name, dtypes in list(about["operators"].items())[part - 1 :: parts]
        for dtype in [*dtypes, "errors"]
        if (not options.op or name in options.op or name.partition(".")[0] in options.op)
        and (not options.dtypes or dtype in options.dtypes.split(","))
        and ((name, dtype) not in known or options.op or options.wrong)
        and (not options.wrong or ((name, dtype) in known and expected_failures.unexpected(known[name, dtype], excuses)))
    ]
    to_come = known.keys() | {(job["op"], job["dtype"]) for job in jobs}
    missing = sum((name, dtype) not in to_come for name, dtypes in about["operators"].items() for dtype in [*dtypes, "errors"])
    if options.publish and missing:
        parser.error(f"{missing} operators and types would be missing on docs/operators.md: run all of them")
    options.results.parent.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    with options.results.open("w" if options.again else "a") as file:
        if options.again:
            known = {}

        def tell(result: operator_workers.Result) -> None:
            known[result["op"], result["dtype"]] = result
            print(json.dumps(result), file=file, flush=True)
            for line in expected_failures.unexpected(result, excuses):
                print(line, flush=True)

        operator_workers.run_all(iter(jobs), options.jobs, tell)
    ran = [known[job["op"], job["dtype"]] for job in jobs]
    by_operator = options.results.with_suffix(".md")
    by_operator.write_text(operator_page.table(about, known))
    if options.publish:
        said = f'"--publish --sample {options.sample}"' if options.sample else "--publish"
        PAGE.write_text(operator_page.page(about, known, excuses, about["of_pytorch"], f"make test-operators OPTIONS={said}"))
    wrong = [line for result in ran for line in expected_failures.unexpected(result, excuses)]
    compared = sum(sum(result["compared"].values()) for result in ran)
    print(f"{len(ran)} operators and types, {compared} comparisons, {len(wrong)} unexpected, {time.monotonic() - begin:.0f} s")
    print(f"By operator: {by_operator}")
    return 1 if wrong else 0


def _about() -> operator_workers.Result:
    worker = operator_workers.Worker()
    try:
        return worker.start()
    finally:
        worker.stop()


def _read(file: pathlib.Path) -> dict[tuple[str, str], operator_workers.Result]:
    if not file.exists():
        return {}
    results = [json.loads(line) for line in file.read_text().splitlines()]
    return {(result["op"], result["dtype"]): result for result in results}


if __name__ == "__main__":
    sys.exit(main())
