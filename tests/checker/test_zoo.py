"""Kernels with known defects: `metalloid check` finds all of them, where they are, and nothing else.

CLASS/NAME.metal has one defect of that class, and without it where REPAIRED is defined; `several` has kernels with more
than one, `fine` some that look suspicious and are right. Comments say how a kernel is run and what is found:

    // CHECK: --threads 64 --group 64 --arg x=f32[64]=arange     options of `metalloid check`
    // CHECK REPAIRED: ...                                       where the repaired kernel wants others
    // FINDS: threadgroup-race write read                        a finding: its class, and a label for each of its places
    t[i] = x[i];  // @write

A finding whose place is not one of the kernel's lines has no label; one that may be told without its second place has
[LABEL]. The order of places does not count. Notes do not count. A pair of lines that is a race of threads of two
simdgroups and of lanes of one is told once, as the race; that memory is read before it is written, because a barrier is
missing, is told by the race, too.
"""

import json
import pathlib
import re
import shlex

import pytest

folder = pathlib.Path(__file__).parent
files = sorted(folder.glob("*/*.metal"))
exit_fine, exit_findings = 0, 4

classes = {
    "out-of-bounds", "misaligned", "read-only", "threadgroup-race", "device-race", "missing-fence", "lockstep",
    "uninitialised", "barrier-divergence", "divergent-operation", "inactive-lane", "non-uniform", "division-by-zero",
    "overlapping-arguments", "argument-width", "not-finite", "endless-loop",
}  # fmt: skip


class Kernel:
    """What the comments of a file say."""

    def __init__(self, file):
        self.file = file
        text = file.read_text()
        (self.options,) = re.findall(r"^// CHECK: (.*)$", text, re.MULTILINE)
        (self.repaired_options,) = re.findall(r"^// CHECK REPAIRED: (.*)$", text, re.MULTILINE) or [self.options]
        self.has_repair = bool(re.search(r"^#ifn?def REPAIRED$", text, re.MULTILINE)) or "// CHECK REPAIRED:" in text
        self.findings = re.findall(r"^// FINDS: (.*)$", text, re.MULTILINE)
        self.labels = {}  # the lines of each
        for number, line in enumerate(text.splitlines(), 1):
            for label in re.findall(r"// @(\w+)\s*$", line):
                self.labels.setdefault(label, []).append(number)

    def line_of(self, label):
        (line,) = self.labels[label]
        return line

    def expected(self):
        """For each finding the ways in which it may be told: classes with sorted lines."""
        for text in self.findings:
            name, *labels = text.split()
            must = [self.line_of(label) for label in labels if not label.startswith("[")]
            may = [self.line_of(label[1:-1]) for label in labels if label.startswith("[")]
            yield {(name, tuple(sorted(must))), (name, tuple(sorted(must + may)))}


def identity(path):
    return f"{path.parent.name}/{path.stem}"


def line_in(place, file):
    """The line of a place; for one in a header, of the call in the kernel's file that led there."""
    if pathlib.Path(place["file"] or "").name == file.name:
        return place["line"]
    lines = (line_in(caller, file) for caller in place["called_from"])
    return next((line for line in lines if line is not None), None)


def found_in(report, file):
    for finding in report["findings"]:
        if finding["severity"] != "note":
            lines = [line_in(step["place"], file) for step in finding["steps"]]
            yield finding["class"], tuple(sorted(line or 0 for line in lines))


def told(finding):
    name, lines = finding
    return f"{name} in {' and '.join(f'line {line}' for line in lines) or 'no line'}"


def check(metalloid_cli, kernel, options, *more):
    """The finished process and its findings."""
    result = metalloid_cli("check", kernel.file, *shlex.split(options), *more, "--json", "-", cwd=folder)
    command = f"metalloid check {identity(kernel.file)}.metal {options} {' '.join(more)}"
    assert result.returncode in (exit_fine, exit_findings), f"{command}\n{result.stderr}"
    return result, set(found_in(json.loads(result.stdout), kernel.file)), f"{command}\n\n{result.stderr}"


def compare(kernel, found, report):
    left, missing = set(found), []
    for ways in kernel.expected():
        # A finding without a label is known by its class.
        told_by = ways & left or {one for one in left if (one[0], ()) in ways}
        left -= told_by
        if not told_by:
            missing.append(max(ways, key=lambda way: len(way[1])))
    problems = [f"not found: {told(one)}" for one in missing] + [f"should not be there: {told(one)}" for one in left]
    assert not problems, "\n".join([f"{identity(kernel.file)}:", *problems, "", report])


@pytest.mark.parametrize("file", files, ids=identity)
def test_comments(file):
    """Each file says what is tested, and labels what it names."""
    kernel = Kernel(file)
    names = [text.split()[0] for text in kernel.findings]
    used = {label.strip("[]") for text in kernel.findings for label in text.split()[1:]}
    assert used == set(kernel.labels)
    assert all(len(lines) == 1 for lines in kernel.labels.values())
    if file.parent.name == "fine":
        assert not names and not kernel.has_repair
    else:
        assert kernel.has_repair and set(names) <= classes
        assert file.parent.name in [*names, "several"]
        assert file.parent.name != "several" or len(names) > 1


def test_every_class_is_there():
    assert {file.parent.name for file in files} == {*classes, "several", "fine"}


@pytest.mark.parametrize("file", files, ids=identity)
def test_findings(metalloid_cli, file):
    kernel = Kernel(file)
    result, found, report = check(metalloid_cli, kernel, kernel.options)
    compare(kernel, found, report)
    assert result.returncode == (exit_findings if kernel.findings else exit_fine), report


# The first of each class.
sample = [file for i, file in enumerate(files) if i == 0 or file.parent != files[i - 1].parent]


@pytest.mark.parametrize("file", sample, ids=identity)
def test_findings_on_other_hardware(metalloid_cli, monkeypatch, file):
    """Kernels of a device with memory of its own are checked on the host, and found out the same way."""
    monkeypatch.setenv("METALLOID_TRIAL_ENGINE", "1")
    kernel = Kernel(file)
    result, found, report = check(metalloid_cli, kernel, kernel.options, "--device", "trial")
    compare(kernel, found, report)
    assert result.returncode == (exit_findings if kernel.findings else exit_fine), report


repaired = [file for file in files if file.parent.name != "fine"]


@pytest.mark.parametrize("file", repaired, ids=identity)
def test_repaired(metalloid_cli, file):
    kernel = Kernel(file)
    result, found, report = check(metalloid_cli, kernel, kernel.repaired_options, "-DREPAIRED=1")
    assert not found and result.returncode == exit_fine, report


@pytest.mark.parametrize("seed", [7])
@pytest.mark.parametrize("file", files, ids=identity)
def test_order_of_threads(metalloid_cli, file, seed):
    """What is right is right in every order."""
    kernel = Kernel(file)
    more = [] if file.parent.name == "fine" else ["-DREPAIRED=1"]
    result, found, report = check(metalloid_cli, kernel, kernel.repaired_options, *more, "--schedule", str(seed))
    assert not found and result.returncode == exit_fine, report
