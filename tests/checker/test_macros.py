"""Findings in a kernel that a macro makes are told apart, and say where in the macro they are."""

import json
import pathlib

folder = pathlib.Path(__file__).parent
file = folder / "several" / "kernels_of_a_macro.metal"
options = "--threads 64 --group 64 --kernel sums_float --arg x=f32[65]=arange --arg out=f32[64]=zeros".split()
lines = file.read_text().splitlines()


def line_of(text):
    return next(number for number, line in enumerate(lines, 1) if text in line)


def checked(metalloid_cli, *more):
    return metalloid_cli("check", file, *options, *more, cwd=folder)


def test_places(metalloid_cli):
    findings = json.loads(checked(metalloid_cli, "--json", "-").stdout)["findings"]
    found = {(f["class"], f["memory"], *sorted(step["place"]["line"] for step in f["steps"])) for f in findings}
    assert found == {
        ("threadgroup-race", "t", line_of("t[i] = x[i];"), line_of("T sum = t[")),
        ("uninitialised", "a", line_of("sum = sum * a")),
        ("uninitialised", "b", line_of("sum = sum * a")),
        ("out-of-bounds", "out", line_of("out[PLACE(i)]")),
    }
    for finding in findings:
        for step in finding["steps"]:
            place, expansion = step["place"], step["place"]["called_from"][-1]
            assert place["macro"] == "SUMS" and place["text"] == lines[place["line"] - 1]
            assert expansion["macro"] is None and expansion["line"] == line_of("SUMS(float)")
            assert expansion["text"] == "SUMS(float)"


def test_text(metalloid_cli):
    report = checked(metalloid_cli).stderr
    assert "kernels_of_a_macro.metal:%d:" % line_of("out[PLACE(i)]") in report
    assert "macro 'SUMS' is expanded here" in report


def test_sarif(metalloid_cli):
    (run,) = json.loads(checked(metalloid_cli, "--sarif", "-").stdout)["runs"]
    prints = [result["partialFingerprints"]["metalloidFinding/v1"] for result in run["results"]]
    assert len(prints) == 4 and len(set(prints)) == 4
    for result in run["results"]:
        region = result["locations"][0]["physicalLocation"]["region"]
        assert line_of("#define SUMS") < region["startLine"] < line_of("SUMS(float)")
        told = [place["message"]["text"] for place in result["relatedLocations"]]
        assert "macro 'SUMS' is expanded here" in told
