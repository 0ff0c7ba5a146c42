"""A skipped test fails `make test` unless it is listed."""

import json
import subprocess
import sys

import pytest
from check_skips import allowed_skips, may_be_skipped
from conftest import root


def test_the_list_has_names_and_reasons():
    patterns = allowed_skips()
    assert patterns
    assert may_be_skipped(patterns[0], patterns)
    assert not may_be_skipped("tests/python/tuning/test_tune.py::test_nothing", patterns)


@pytest.mark.parametrize("name, fails", [("PrivateFiles.WhatAnotherUserOwnsIsNotLoaded", False), ("Suite.Test", True)])
def test_reports_of_googletest(tmp_path, name, fails):
    suite, test = name.split(".")
    cases = [{"name": test, "result": "SKIPPED"}, {"name": "Other", "result": "COMPLETED"}]
    report = tmp_path / "report.json"
    report.write_text(json.dumps({"testsuites": [{"name": suite, "testsuite": cases}]}))
    done = subprocess.run(
        [sys.executable, root / "scripts" / "check_skips.py", report], capture_output=True, text=True, timeout=1200
    )
    assert (done.returncode != 0) == fails and (name in done.stderr) == fails, done


@pytest.mark.parametrize("options, passes", [([], True), (["--no-skips"], False)])
@pytest.mark.parametrize("body", ["pytest.skip('because', allow_module_level=True)", "def test(): pytest.skip('because')"])
def test_skips_of_pytest(tmp_path, body, options, passes):
    (tmp_path / "conftest.py").write_text((root / "tests" / "conftest.py").read_text().replace(
        "pathlib.Path(__file__).resolve().parent.parent", f"pathlib.Path({str(root)!r})"
    ))  # fmt: skip
    (tmp_path / "test_other.py").write_text("def test_other(): pass\n")
    (tmp_path / "test_it.py").write_text(f"import pytest\n{body}\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", tmp_path, *options],
        capture_output=True, text=True, timeout=1200, cwd=tmp_path,
    )  # fmt: skip
    assert (done.returncode == 0) == passes, done.stdout
    assert ("allowed_skips.txt does not list it" in done.stdout) == (not passes)
