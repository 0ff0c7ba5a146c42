"""Pipelines in Halide's language, scheduled for a GPU and for the processor: image filters, products, scans, reductions.

Each is a function of the target's kind that returns the function to compile and its inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import halide as hl

x, y, c, xi, yi, xo, yo = (hl.Var(name) for name in ("x", "y", "c", "xi", "yi", "xo", "yo"))
Made = tuple[hl.Func, list[hl.ImageParam]]


def _image(kind: Any, dimensions: int, name: str) -> hl.ImageParam:
    return hl.ImageParam(kind, dimensions, name)


def _tiled(function: hl.Func, gpu: bool, width: int = 16, height: int = 8) -> hl.Func:
    """Two dimensions in tiles of threads, or in parallel rows of vectors."""
    return function.gpu_tile(x, y, xi, yi, width, height) if gpu else function.parallel(y).vectorize(x, 8)


def scale(gpu: bool) -> Made:
    given, out = _image(hl.Float(32), 1, "given"), hl.Func("out")
    out[x] = given[x] * 2.0 + 1.0
    out.gpu_tile(x, xi, 64) if gpu else out.vectorize(x, 8)
    return out, [given]


def blur(gpu: bool) -> Made:
    """A box in two steps, the first one in threadgroup memory."""
    given, rows, out = _image(hl.UInt(16), 2, "given"), hl.Func("rows"), hl.Func("out")
    inside = hl.BoundaryConditions.repeat_edge(given)
    rows[x, y] = (inside[x, y] + inside[x + 1, y] + inside[x + 2, y]) / 3
    out[x, y] = (rows[x, y] + rows[x, y + 1] + rows[x, y + 2]) / 3
    if gpu:
        out.gpu_tile(x, y, xo, yo, xi, yi, 16, 8)
        rows.compute_at(out, xo).gpu_threads(x, y)
    else:
        _tiled(out, gpu)
        rows.compute_at(out, y).vectorize(x, 8)
    return out, [given]


def product(gpu: bool) -> Made:
    a, b = _image(hl.Float(32), 2, "a"), _image(hl.Float(32), 2, "b")
    total, out = hl.Func("total"), hl.Func("out")
    k = hl.RDom([(0, 48)], "k")
    total[x, y] = 0.0
    total[x, y] += a[k, y] * b[x, k]
    out[x, y] = total[x, y]
    if gpu:
        out.gpu_tile(x, y, xi, yi, 8, 8)
        total.compute_at(out, xi)
    else:
        _tiled(out, gpu)
    return out, [a, b]


def unsharp(gpu: bool) -> Made:
    given, out = _image(hl.Float(32), 2, "given"), hl.Func("out")
    inside = hl.BoundaryConditions.mirror_image(given)
    weights = [hl.exp(-hl.f32(i * i) / 4.5) for i in range(4)]
    columns, rows = hl.Func("columns"), hl.Func("rows")
    columns[x, y] = weights[0] * inside[x, y] + sum(weights[i] * (inside[x, y - i] + inside[x, y + i]) for i in (1, 2, 3))
    rows[x, y] = weights[0] * columns[x, y] + sum(weights[i] * (columns[x - i, y] + columns[x + i, y]) for i in (1, 2, 3))
    norm = weights[0] + 2 * (weights[1] + weights[2] + weights[3])
    out[x, y] = 2 * inside[x, y] - rows[x, y] / (norm * norm)
    for function in (columns, rows):
        _tiled(function.compute_root(), gpu)
    return _tiled(out, gpu), [given]


def convolution(gpu: bool) -> Made:
    """A layer of a network: 8 channels from 6, windows of 3 x 3, then what is negative cut."""
    given, weights, bias = _image(hl.Float(32), 3, "given"), _image(hl.Float(32), 4, "weights"), _image(hl.Float(32), 1, "bias")
    out, total = hl.Func("out"), hl.Func("total")
    r = hl.RDom([(0, 3), (0, 3), (0, 6)], "r")
    total[x, y, c] = bias[c]
    total[x, y, c] += weights[r.x, r.y, r.z, c] * given[x + r.x, y + r.y, r.z]
    out[x, y, c] = hl.max(0.0, total[x, y, c])
    if gpu:
        out.gpu_tile(x, y, xi, yi, 8, 8)
        total.compute_at(out, xi)
    else:
        out.parallel(c).vectorize(x, 8)
    return out, [given, weights, bias]


def softmax(gpu: bool) -> Made:
    given = _image(hl.Float(32), 2, "given")
    most, total, out = hl.Func("most"), hl.Func("total"), hl.Func("out")
    r = hl.RDom([(0, 100)], "r")
    most[y] = hl.f32(-1e30)
    most[y] = hl.max(most[y], given[r, y])
    total[y] = 0.0
    total[y] += hl.exp(given[r, y] - most[y])
    out[x, y] = hl.exp(given[x, y] - most[y]) / total[y]
    for function in (most, total):
        function.compute_root()
        if gpu:
            function.gpu_tile(y, yi, 16)
            function.update().gpu_tile(y, yi, 16)
    return _tiled(out, gpu), [given]


def equalised(gpu: bool) -> Made:
    """A histogram on the processor, and what is made of it on the GPU."""
    given = _image(hl.UInt(8), 2, "given")
    histogram, totals, out, i = hl.Func("histogram"), hl.Func("totals"), hl.Func("out"), hl.Var("i")
    all_of_it = hl.RDom([(0, 64), (0, 48)], "all_of_it")
    levels = hl.RDom([(1, 255)], "levels")
    histogram[i] = hl.u32(0)
    histogram[hl.i32(given[all_of_it.x, all_of_it.y])] += hl.u32(1)
    totals[i] = histogram[i]
    totals[levels.x] = totals[levels.x - 1] + histogram[levels.x]
    out[x, y] = hl.u8(hl.clamp(totals[hl.i32(given[x, y])] * 255 / (64 * 48), 0, 255))
    histogram.compute_root()
    totals.compute_root()
    return _tiled(out, gpu), [given]


def enlarged(gpu: bool) -> Made:
    """Two and a half times as large, between pixels by their distance."""
    given, out = _image(hl.UInt(8), 2, "given"), hl.Func("out")
    inside = hl.BoundaryConditions.repeat_edge(given)
    left, top = hl.f32(x) / 2.5, hl.f32(y) / 2.5
    u, v = hl.i32(hl.floor(left)), hl.i32(hl.floor(top))
    a, b = left - hl.f32(u), top - hl.f32(v)
    upper = hl.f32(inside[u, v]) * (1 - a) + hl.f32(inside[u + 1, v]) * a
    lower = hl.f32(inside[u, v + 1]) * (1 - a) + hl.f32(inside[u + 1, v + 1]) * a
    out[x, y] = hl.u8(hl.clamp(upper * (1 - b) + lower * b + 0.5, 0, 255))
    return _tiled(out, gpu), [given]


def bilateral(gpu: bool) -> Made:
    """Smooth where neighbours are alike."""
    given, total, out = _image(hl.Float(32), 2, "given"), hl.Func("total"), hl.Func("out")
    inside = hl.BoundaryConditions.repeat_edge(given)
    r = hl.RDom([(-2, 5), (-2, 5)], "r")
    difference = inside[x + r.x, y + r.y] - inside[x, y]
    weight = hl.exp(-hl.f32(r.x * r.x + r.y * r.y) / 8.0 - difference * difference * 20.0)
    total[x, y] = (hl.f32(0), hl.f32(0))
    total[x, y] = (total[x, y][0] + weight * inside[x + r.x, y + r.y], total[x, y][1] + weight)
    out[x, y] = total[x, y][0] / total[x, y][1]
    if gpu:
        out.gpu_tile(x, y, xi, yi, 8, 8)
        total.compute_at(out, xi)
    else:
        _tiled(out, gpu)
    return out, [given]


def edges(gpu: bool) -> Made:
    given, out = _image(hl.UInt(8), 2, "given"), hl.Func("out")
    inside, wide = hl.BoundaryConditions.constant_exterior(given, 0), hl.Func("wide")
    wide[x, y] = hl.i16(inside[x, y])
    across = wide[x + 1, y - 1] + 2 * wide[x + 1, y] + wide[x + 1, y + 1] - wide[x - 1, y - 1] - 2 * wide[x - 1, y] - wide[x - 1, y + 1]
    down = wide[x - 1, y + 1] + 2 * wide[x, y + 1] + wide[x + 1, y + 1] - wide[x - 1, y - 1] - 2 * wide[x, y - 1] - wide[x + 1, y - 1]
    out[x, y] = hl.u8(hl.min(hl.u16(hl.abs(across)) + hl.u16(hl.abs(down)), 255))
    return _tiled(out, gpu), [given]


def summed(gpu: bool) -> Made:
    """Running sums of rows, then of columns: each thread goes along one."""
    given, rows, out = _image(hl.Int(32), 2, "given"), hl.Func("rows"), hl.Func("out")
    along, down = hl.RDom([(1, 63)], "along"), hl.RDom([(1, 47)], "down")
    rows[x, y] = given[x, y]
    rows[along, y] = rows[along - 1, y] + given[along, y]
    out[x, y] = rows[x, y]
    out[x, down] = out[x, down - 1] + rows[x, down]
    rows.compute_root()
    if gpu:
        _tiled(rows, gpu)
        rows.update().gpu_tile(y, yi, 16)
        _tiled(out, gpu)
        out.update().gpu_tile(x, xi, 16)
    return out, [given]


def mandelbrot(gpu: bool) -> Made:
    """How many turns a point stays near: complex numbers as pairs."""
    scales, steps, out, t = _image(hl.Float(32), 1, "scales"), hl.Func("steps"), hl.Func("out"), hl.Var("t")
    r = hl.RDom([(1, 24)], "r")
    real, imaginary = hl.f32(x) * scales[0] - 2.0, hl.f32(y) * scales[1] - 1.0
    steps[x, y, t] = (hl.f32(0), hl.f32(0))
    before = steps[x, y, r - 1]
    steps[x, y, r] = (before[0] * before[0] - before[1] * before[1] + real, 2 * before[0] * before[1] + imaginary)
    gone = hl.argmin(hl.select(steps[x, y, r][0] * steps[x, y, r][0] + steps[x, y, r][1] * steps[x, y, r][1] < 4.0, 1, 0))
    out[x, y] = gone[0]
    if gpu:
        out.gpu_tile(x, y, xi, yi, 8, 8)
        steps.compute_at(out, xi)
    else:
        steps.compute_at(out, x)
    return out, [scales]


PIPELINES: dict[str, Callable[[bool], Made]] = {
    function.__name__: function
    for function in (scale, blur, product, unsharp, convolution, softmax, equalised, enlarged, bilateral, edges, summed, mandelbrot)
}
# Extents of inputs, then of the output, the fastest dimension first.
SHAPES: dict[str, list[tuple[int, ...]]] = {
    "scale": [(1000,), (1000,)],
    "blur": [(64, 48), (64, 48)],
    "product": [(48, 40), (72, 48), (72, 40)],
    "unsharp": [(64, 48), (64, 48)],
    "convolution": [(34, 26, 6), (3, 3, 6, 8), (8,), (32, 24, 8)],
    "softmax": [(100, 48), (100, 48)],
    "equalised": [(64, 48), (64, 48)],
    "enlarged": [(64, 48), (160, 120)],
    "bilateral": [(64, 48), (64, 48)],
    "edges": [(64, 48), (64, 48)],
    "summed": [(64, 48), (64, 48)],
    "mandelbrot": [(2,), (96, 64)],
}
