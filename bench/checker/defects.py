"""Kernels with one thing wrong each, in Metal and in OpenCL C. Lines that are part of it end with "// wrong"."""

import dataclasses
import pathlib

from work import Array, Value, Work

folder = pathlib.Path(__file__).resolve().parent / "defects"
RACES = ("threadgroup-race", "device-race", "missing-fence", "lockstep")


@dataclasses.dataclass(frozen=True)
class Defect:
    work: Work
    what: str
    classes: tuple[str, ...]  # of the checker, each of which names it
    messages: tuple[str, ...]  # beginnings of Oclgrind's, likewise

    @property
    def name(self) -> str:
        return self.work.kernel

    def wrong_lines(self, suffix: str) -> set[int]:
        lines = (folder / f"{self.name}{suffix}").read_text().splitlines()
        return {number for number, line in enumerate(lines, 1) if line.endswith("// wrong")}


def _defect(name: str, what: str, classes: tuple, messages: tuple, threads: int, *arguments: Array | Value) -> Defect:
    return Defect(Work(folder, name, (threads,), (64,), arguments), what, classes, messages)


def _numbers(count: int, fill: float | str = "arange") -> Array:
    return Array("u32", count, fill)


_RACE = ("Read-write data race", "Write-write data race")
_OUTSIDE = ("Invalid read", "Invalid write")
_UNINITIALISED = (
    "Uninitialized value written", "Uninitialized address used", "Controlflow depends on uninitialized value",
    "Instruction depends on an uninitialized index value",
)  # fmt: skip
_DIVERGENCE = ("Work-group divergence detected (barrier)",)

DEFECTS = (
    _defect("local_race", "local memory, no barrier", RACES, _RACE, 64, _numbers(64)),
    _defect("local_reuse", "local memory that is used again", RACES, _RACE, 64, _numbers(64)),
    _defect("lanes_in_step", "lanes that are to run in step", RACES, _RACE, 64, _numbers(64)),
    _defect("global_race", "reads and writes of two work-groups", RACES, _RACE, 128, _numbers(128), Value("u32", 128)),
    _defect("global_race_of_writes", "writes of two work-groups", RACES, _RACE, 128, _numbers(64)),
    _defect("atomic_and_plain", "an atomic and a plain access", RACES, _RACE, 128, _numbers(1)),
    _defect("flag_without_order", "a flag that orders nothing", RACES, _RACE, 128, _numbers(1), _numbers(1), _numbers(1)),
    _defect("missing_fence", "a barrier without the fence of global memory", RACES, _RACE, 64, _numbers(64), _numbers(64)),
    _defect("missing_local_fence", "a barrier without the fence of local memory", RACES, _RACE, 64, _numbers(64)),
    _defect("read_past_end", "a read behind an argument", ("out-of-bounds",), _OUTSIDE, 64, _numbers(64), _numbers(64)),
    _defect("write_before_begin", "a write before an argument", ("out-of-bounds",), _OUTSIDE, 64, _numbers(64)),
    _defect("atomic_past_end", "an atomic operation behind an argument", ("out-of-bounds",), _OUTSIDE, 64, _numbers(16)),
    _defect("local_overrun", "a read behind an array in local memory", ("out-of-bounds",), _OUTSIDE, 64, _numbers(64)),
    _defect("private_overrun", "a write behind a private array", ("out-of-bounds",), _OUTSIDE, 64, _numbers(64)),
    _defect("barrier_in_branch", "a barrier that some miss", ("barrier-divergence",), _DIVERGENCE, 64, _numbers(64)),
    _defect("two_barriers", "two barriers in two branches", ("barrier-divergence",), _DIVERGENCE, 64, _numbers(64)),
    _defect("uninitialised_local", "local memory, not written", ("uninitialised",), _UNINITIALISED, 64, _numbers(64)),
    _defect("uninitialised_private", "a private array, not written", ("uninitialised",), _UNINITIALISED, 64, _numbers(64)),
    _defect("uninitialised_variable", "a variable, not written", ("uninitialised",), _UNINITIALISED, 64, _numbers(64)),
    _defect("uninitialised_buffer", "an argument that the host left undefined", ("uninitialised",), _UNINITIALISED, 64,
            _numbers(64, "undefined"), _numbers(64)),
    _defect("misaligned_vector", "a vector at an odd place", ("misaligned",), ("Unaligned address", "Invalid memory load"), 64,
            Array("f32", 80, "arange"), Array("f32", 64)),
    _defect("correct_tiles", "nothing", (), (), 128, _numbers(128), _numbers(128), _numbers(1)),
)  # fmt: skip
