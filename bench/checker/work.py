"""Dispatches that both `metalloid` and Oclgrind can be asked for: a kernel in Metal and in OpenCL C, its grid and arguments."""

import dataclasses
import pathlib

root = pathlib.Path(__file__).resolve().parent.parent.parent
# Metalloid's name, OpenCL's, bytes.
TYPES = {"f32": ("float", 4), "u32": ("uint", 4), "i32": ("int", 4), "f16": ("ushort", 2)}
HALVES = {0: 0, 0.5: 0x3800}  # Oclgrind's files know no half


@dataclasses.dataclass(frozen=True)
class Array:
    type: str
    count: int
    fill: float | str = 0  # a value, "arange", or "undefined"

    @property
    def bytes(self) -> int:
        return self.count * TYPES[self.type][1]

    def for_metalloid(self) -> str:
        return f"{self.type}[{self.count}]={self.fill}"

    def for_oclgrind(self) -> str:
        fill = HALVES[self.fill] if self.type == "f16" else self.fill
        how = {"arange": f"range=0:1:{self.count - 1}", "undefined": "noinit"}.get(fill, f"fill={fill}")
        return f"<size={self.bytes} {TYPES[self.type][0]} {how}>"


@dataclasses.dataclass(frozen=True)
class Value:
    type: str
    value: float
    bytes: int = dataclasses.field(default=0, init=False)  # none that anybody follows

    def for_metalloid(self) -> str:
        return f"{self.type}:{self.value}"

    def for_oclgrind(self) -> str:
        name, size = TYPES[self.type]
        return f"<size={size} {name} fill={self.value}>"


@dataclasses.dataclass(frozen=True)
class Work:
    folder: pathlib.Path
    kernel: str  # also the name of its files
    grid: tuple[int, ...]  # threads
    group: tuple[int, ...]
    arguments: tuple[Array | Value, ...]

    @property
    def bytes(self) -> int:
        return sum(argument.bytes for argument in self.arguments)

    def for_metalloid(self) -> list[str]:
        """The arguments of `metalloid run` and `metalloid check`."""
        sizes = ["--threads", ",".join(map(str, self.grid)), "--group", ",".join(map(str, self.group))]
        values = [word for argument in self.arguments for word in ("--arg", argument.for_metalloid())]
        return [str(self.folder / f"{self.kernel}.metal"), "--kernel", self.kernel, *sizes, *values]

    def for_oclgrind(self) -> str:
        """The file that oclgrind-kernel takes; it looks for the source in the folder in which it runs."""
        three = (" ".join(map(str, (*size, 1, 1)[:3])) for size in (self.grid, self.group))
        lines = [f"{self.kernel}.cl", self.kernel, *three, *(argument.for_oclgrind() for argument in self.arguments)]
        return "\n".join(lines) + "\n"

    def one_group(self) -> "Work":
        """The same with one threadgroup alone."""
        return dataclasses.replace(self, grid=self.group)
