"""The threads of a dispatch: where each is, and which lanes of which simdgroup they are (MSL specification, section
5.2.3.6: threadgroups at the grid's edge are smaller, and simdgroups are counted by their actual size)."""

from __future__ import annotations

import dataclasses

import numpy as np

simd_width = 32


@dataclasses.dataclass(frozen=True)
class Shape:
    grid: tuple[int, int, int]
    group: tuple[int, int, int]
    inputs: int = 0  # which contents the buffers have

    def __str__(self) -> str:
        return f"threads {self.grid}, threadgroup {self.group}, inputs {self.inputs}"


class Threads:
    """All threads in the order of their linear position in the grid, x fastest."""

    def __init__(self, shape: Shape) -> None:
        grid, group = np.array(shape.grid), np.array(shape.group)
        self.total = total = int(grid.prod())
        linear = np.arange(total)
        self.position = np.stack([linear % grid[0], linear // grid[0] % grid[1], linear // (grid[0] * grid[1])])
        self.group_position = self.position // group[:, None]
        self.local = self.position - self.group_position * group[:, None]
        self.actual = np.minimum(group[:, None], grid[:, None] - self.group_position * group[:, None])
        self.groups = -(-grid // group)
        size = self.actual
        self.index = (self.local[2] * size[1] + self.local[1]) * size[0] + self.local[0]  # within the threadgroup
        where = self.group_position
        self.group_index = (where[2] * self.groups[1] + where[1]) * self.groups[0] + where[0]
        self.group_count = int(self.groups.prod())
        self.lane, self.simd = self.index % simd_width, self.index // simd_width
        self.simds = -(-size.prod(axis=0) // simd_width)
        most = int(self.simds.max())
        self.simd_index = self.group_index * most + self.simd
        self.table = np.full((self.group_count * most, simd_width), -1)  # the thread that is that lane
        self.table[self.simd_index, self.lane] = linear
        self.each = linear

    def rows(self, values: np.ndarray) -> np.ndarray:
        """By simdgroup and lane, in front of them what is in front of the threads."""
        return np.broadcast_to(values, (*values.shape[:-1], self.total))[..., self.table]

    def threads(self, rows: np.ndarray) -> np.ndarray:
        return rows[..., self.simd_index, self.lane]

    def variables(self, dimensions: int, index_type: str) -> dict[str, tuple[str, np.ndarray]]:
        """The built-in arguments by the names that kernels have for them, with their types."""
        of_grid = {"p": self.position, "w": self.group_position, "groups": self.groups[:, None]}
        of_group = {"q": self.local, "size": self.actual}
        result = {}
        for vectors, type in ((of_grid, "uint"), (of_group, index_type)):
            for name, vector in vectors.items():
                for axis in range(dimensions):
                    result[name if dimensions == 1 else f"{name}.{'xyz'[axis]}"] = (type, vector[axis])
        result.update(
            t=(index_type, self.index),
            lane=(index_type, self.lane),
            simd=(index_type, self.simd),
            simds=(index_type, self.simds),
            g=("uint", self.each),
            total=("uint", np.array([self.total])),
        )
        return result
