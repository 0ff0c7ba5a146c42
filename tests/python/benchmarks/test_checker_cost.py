"""The comparison of bench/checker: its commands, its tables, its kernels, and what the checker says about those. Nothing is
timed here."""

import sys

import pytest
from conftest import build, root

import metalloid

sys.path[:0] = [str(root / "bench"), str(root / "bench" / "checker")]

import commands  # noqa: E402
import compare  # noqa: E402
import kernels  # noqa: E402
from checker_tables import checker_tables, missed  # noqa: E402
from compare import by_turns, said  # noqa: E402
from defects import DEFECTS, folder  # noqa: E402
from work import Array, Value, Work  # noqa: E402

OUTPUT = """
Read-write data race at local memory address 0x1000000000004
\tKernel: k

\tFirst entity:  Global(1,0,0) Local(1,0,0) Group(0,0,0)
\t  store i32 %add, i32 addrspace(3)* %arrayidx3, align 4
\tAt line 7 (column 10) of input.cl:
\t  t[i] = x[i];

\tSecond entity: Global(0,0,0) Local(0,0,0) Group(0,0,0)
\tAt line 9 (column 12) of input.cl:
\t  sum += t[i + 1];

Invalid write of size 4 at global memory address 0x1000000000100
\tKernel: k
\tAt line 12 (column 3) of input.cl:

Uninitialized value written to global memory address 0x1000000000000
Work-group divergence detected (barrier)
Invalid memory load - source pointer is not aligned to the pointed type
"""


def test_work_is_said_in_both_ways():
    arguments = Array("f32", 64, "arange"), Array("u32", 4, "undefined"), Array("f16", 8, 0.5), Value("f32", 0.25)
    work = Work(folder, "k", (64, 2), (32,), arguments)
    assert work.for_metalloid() == [
        f"{folder}/k.metal", "--kernel", "k", "--threads", "64,2", "--group", "32", "--arg", "f32[64]=arange", "--arg",
        "u32[4]=undefined", "--arg", "f16[8]=0.5", "--arg", "f32:0.25",
    ]  # fmt: skip
    assert work.for_oclgrind().splitlines() == [
        "k.cl", "k", "64 2 1", "32 1 1", "<size=256 float range=0:1:63>", "<size=16 uint noinit>",
        "<size=16 ushort fill=14336>", "<size=4 float fill=0.25>",
    ]  # fmt: skip
    assert work.bytes == 256 + 16 + 16
    assert work.one_group().grid == (32,)


def test_oclgrinds_reports():
    assert commands.oclgrind_reports(OUTPUT) == [
        commands.Report("Read-write data race", (7, 9)),
        commands.Report("Invalid write", (12,)),
        commands.Report("Uninitialized value written", ()),
        commands.Report("Work-group divergence detected (barrier)", ()),
        commands.Report("Invalid memory load", ()),
    ]
    assert commands.oclgrind_reports("") == []


def test_reports_count_by_kind_and_line():
    race, outside = commands.Report("race", (3, 4)), commands.Report("outside", (4,))
    assert said([race, outside], ("race",), {4}) == {"found": ["race"], "line": True, "others": ["outside"]}
    assert said([race, race], ("race",), {5}) == {"found": ["race"], "line": False, "others": []}
    assert said([outside], ("race",), {4}) == {"found": [], "line": False, "others": ["outside"]}


def test_contenders_take_turns():
    calls = []
    contenders = {name: lambda name=name: calls.append(name) or len(calls) for name in "abc"}
    samples = by_turns(contenders, 3, lambda take: take())
    assert "".join(calls) == "abcbcacab", "another one begins each round"
    assert samples == {"a": [1, 6, 8], "b": [2, 4, 9], "c": [3, 5, 7]}


@pytest.mark.parametrize("patience, taken, load", [(100, 3, 0.05), (1.5, 2, 0.3), (0, 1, 0.5)])
def test_disturbed_samples_are_taken_again(monkeypatch, patience, taken, load):
    loads, clock, calls = iter([0.5, 0.3, 0.05]), iter(range(100)), []

    class Load:
        def __enter__(self):
            self.part = next(loads)
            return self

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(compare, "OtherLoad", Load)
    monkeypatch.setattr(compare.time, "monotonic", lambda: 2 * next(clock))  # two seconds each
    patient = compare.Patience(patience)
    assert patient(lambda: calls.append(0) or len(calls)) == taken
    assert len(calls) == taken and patient.other_load == load


def found(*names, others=(), line=True):
    return {"found": list(names), "line": line, "others": list(others)}


def cost(checked, memory=None, **more):
    seconds = {
        "reference": [1.0, 2.0], "reference, one core": [2.0, 4.0], "cpu": [0.5, 1.0],
        "checked": [checked, 2 * checked], "checked, one core": [1.5 * checked, 3 * checked],
    }  # fmt: skip
    peaks = {} if memory is None else {"peaks": {"reference": 1000, "checked": 1000 + memory}}
    return {"seconds": seconds, "bytes": 100, "grid": [64, 2], "group": [64], "other_load": 0.0, **peaks, **more}


@pytest.fixture
def result():
    both = {"Oclgrind": [60.0, 60.0], "checked": [1.0, 1.0]}
    core = {"Oclgrind": [90.0, 90.0], "checked": [1.0, 1.0]}
    whole = {"Oclgrind": [61.0, 61.0], "checked": [2.0, 2.0]}
    return {
        "versions": {"checked": "metalloid 1", "Oclgrind": "Oclgrind 2"},
        "cost": {"one": cost(4.0, memory=400), "two": cost(9.0, other_load=0.5)},
        "oclgrind": {
            "one": {"kernel": both, "whole": whole, "core": core, "grid": [64], "other_load": 0.0}
        },
        "defects": {
            "race": {"what": "a race", "is_wrong": True, "checked": found("device-race"),
                     "Oclgrind": found("Read-write data race", others=["Invalid read"], line=False)},
            "hidden": {"what": "hides", "is_wrong": True, "checked": found("lockstep"), "Oclgrind": found(others=["Talk"])},
            "right": {"what": "nothing", "is_wrong": False, "checked": found(), "Oclgrind": found(others=["Talk"])},
        },
        "wrong": {"three": {"Oclgrind": "it crashed, SIGSEGV"}, "four": {"checked": "the sum is another"}},
    }  # fmt: skip


def lines_with(result, start):
    return [line for line in checker_tables(result).splitlines() if line.startswith(start)]


def test_table_of_cost(result):
    one, again = lines_with(result, "| `one`")
    assert "| 64 x 2 |" in one
    assert one.endswith("| 4.00 ± 0 % | 3.00 ± 0 % | 8.00 ± 0 % | 4.00 |  |")
    (two,) = lines_with(result, "| `two`")
    assert two.endswith("| 9.00 ± 0 % | 6.75 ± 0 % | 18.00 ± 0 % |  | 50% of the machine was busy otherwise |")
    assert lines_with(result, "| geometric mean")[0].endswith("| 6.00 | 4.50 | 12.00 | | |")
    assert lines_with(result, "| `four`")[0].endswith("| the sum is another |")
    assert again.endswith("| 60.00 ± 0 % | 90.00 ± 0 % | 61000.00 ms ± 0 % | 2000.00 ms ± 0 % | 30.50 ± 0 % |  |")
    assert lines_with(result, "| `three`")[0].endswith("| it crashed, SIGSEGV |")
    for table in checker_tables(result).split("\n\n")[:4]:
        assert len({line.count("|") for line in table.splitlines()}) == 1, table


def test_aims(result):
    def aims():
        return [line.split("|")[-2].strip() for line in checker_tables(result).split("\n\n")[0].splitlines()[2:]]

    assert aims() == ["", "", "missed", "met", "met", "", "", "met"]
    result["cost"]["two"] = cost(6.0)
    assert aims()[2] == "met"
    result["cost"]["two"] = cost(26.0, memory=801)
    result["oclgrind"]["one"]["kernel"]["checked"] = [1.5, 1.5]
    result["defects"]["hidden"] = {**result["defects"]["race"], "checked": found(others=["lockstep"])}
    assert aims() == ["", "", "missed", "missed", "missed", "", "", "missed"]
    assert missed(result["defects"]) == ["hidden"]
    result["oclgrind"], result["defects"] = {}, {}
    assert len(aims()) == 4, "what a check costs can be measured alone"


def test_table_of_defects(result):
    assert lines_with(result, "| `race`") == [
        "| `race` | a race | device-race | Read-write data race, elsewhere; also Invalid read |"
    ]
    assert lines_with(result, "| `hidden`") == ["| `hidden` | hides | lockstep | **not found**; but Talk |"]
    assert lines_with(result, "| `right`") == ["| `right` | nothing | nothing | Talk |"]
    assert lines_with(result, "| found") == ["| found | | 2 of 2 | 1 of 2 |"]


def test_all_kernels_are_measured():
    files = sorted((root / "bench" / "opencl" / "kernels").glob("*.metal"))
    assert sorted(kernels.NAMES) == [file.stem for file in files]


@pytest.mark.parametrize("name", kernels.NAMES)
def test_kernels_get_what_they_take(name):
    works = kernels.large(name), kernels.small(name), kernels.least(name)
    kernel = getattr(metalloid.compile_shader((works[0].folder / f"{name}.metal").read_text()), name)
    kinds = [argument["kind"] for argument in kernel.arguments]
    for work in works:
        assert len(work.arguments) == kinds.count("buffer")
        assert all(threads % group == 0 for threads, group in zip(work.grid, work.group, strict=True))
    assert works[2].grid == works[2].group and works[2].bytes == works[1].bytes


def test_defects_come_in_both_languages():
    names = sorted(defect.name for defect in DEFECTS)
    assert [sorted(file.stem for file in folder.glob(f"*{suffix}")) for suffix in (".metal", ".cl")] == [names] * 2
    for defect in DEFECTS:
        marks = [defect.wrong_lines(suffix) for suffix in (".metal", ".cl")]
        assert len(marks[0]) == len(marks[1]) and bool(marks[0]) == bool(defect.classes), defect.name


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """With a cache of its own, in which the standard library is compiled once."""
    return commands.Metalloid(str(build / "bin" / "metalloid"), tmp_path_factory.mktemp("program"))


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_checker_finds_the_defects(defect, program):
    reports = program.reports(defect.work)
    ours = said(reports, defect.classes, defect.wrong_lines(".metal"))
    assert ours["others"] == []
    assert bool(ours["found"]) == bool(defect.classes)
    assert ours["line"] == bool(defect.classes)


def test_what_a_command_says_when_it_fails(program, tmp_path):
    with pytest.raises(SystemExit, match="no_such_file.metal"):
        program.whole(("check",), Work(tmp_path, "no_such_file", (1,), (1,), ()))
    work = Work(folder, "local_race", (64,), (64,), (Array("u32", 64),))
    with pytest.raises(SystemExit, match="threadgroup-race"):
        program.peak(("check",), work)
    assert len(program.dispatches(("run", "--device", "reference"), work, 2)) == 2
    assert program.peak(("run", "--device", "reference"), work) > 1 << 20
