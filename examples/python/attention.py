"""Attention: out = softmax(scale * q k^T) v, causal or not, with or without a sliding window, with grouped queries.

q and out have shape (batch, query heads, query length, head size), k and v (batch, key heads, key length, head size).
One kernel, kernels/attention.metal, covers the variants:

  causal          a query sees no key after its own place;
  sliding window  it sees keys less than `window` places away;
  grouped-query   several query heads share one key head; with one key head for all, "multi-query";
  decoding        one query, or a few, follow a long cache of keys: the last query stands at the last key.

One threadgroup computes one row of the result: batch * query heads * query length threadgroups of `group_size` threads.
It walks over the keys in blocks and never stores the matrix of scores. What makes that possible is the online softmax:
exp(score - m) with the largest score m seen so far; when m grows, sums made with the old one are scaled by
exp(old m - new m). The kernel's comment tells it step by step.

No thread reads device memory that another one writes: results stay in registers until the row is done. A kernel that
adds to `out` in device memory instead, from several lanes, needs a barrier with mem_flags::mem_device between them, and
without one is wrong now and then, which no table shows reliably.

Floating point: scores and sums are in float for all element types, and the result is rounded once.
"""

import sys

import metalloid
import numpy as np
from common import Report, empty_result, from_bfloat, kernel_source, rounding, to_bfloat

lib = metalloid.compile_shader(kernel_source("attention.metal"))
kernels = {np.dtype(np.float32): lib.attention_float, np.dtype(np.float16): lib.attention_half}


def attention(q, k, v, *, causal=False, window=0, scale=None, group_size=64, kernel=None):
    """The kernel on contiguous arrays. Returns an array like q.

    scale: default 1 / sqrt(head size). window: 0 for none. group_size: 32 to 1024.
    kernel: default by the arrays' dtype.
    """
    batch, query_heads, query_length, head_size = q.shape
    key_heads, key_length = k.shape[1:3]
    if k.shape != (batch, key_heads, key_length, head_size) or v.shape != k.shape:
        raise ValueError(f"q {q.shape}, k {k.shape} and v {v.shape} do not fit together")
    if query_heads % key_heads != 0 or head_size > 256 or not 32 <= group_size <= 1024:
        raise ValueError("query heads must be a multiple of key heads, head size at most 256, group size 32 to 1024")
    out = empty_result(q.shape, q.dtype)
    (kernel or kernels[q.dtype])(
        out, q, k, v, query_heads, key_heads, query_length, key_length, head_size, int(causal), window,
        float(head_size**-0.5 if scale is None else scale),
        threads=batch * query_heads * query_length * group_size, group_size=group_size,
    )  # fmt: skip
    return out


def reference(q, k, v, causal=False, window=0):
    q, k, v = (np.asarray(array, np.float64) for array in (q, k, v))
    k, v = (np.repeat(array, q.shape[1] // k.shape[1], axis=1) for array in (k, v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    place = np.arange(q.shape[2])[:, None] + k.shape[2] - q.shape[2]
    key = np.arange(k.shape[2])
    seen = np.ones(scores.shape[-2:], bool)
    if causal:
        seen &= key <= place
    if window:
        seen &= np.abs(key - place) < window
    scores = np.where(seen, scores, -np.inf)
    largest = np.maximum(scores.max(axis=-1, keepdims=True), -1e300)  # finite, also where nothing is seen
    weights = np.exp(scores - largest)
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total) @ v


def main() -> int:
    random = np.random.default_rng(5)
    report = Report("attention; shape: batch, query heads / key heads, queries / keys, head size", case_width=42)

    def inputs(batch, query_heads, key_heads, queries, keys, head_size):
        q = random.standard_normal((batch, query_heads, queries, head_size))
        k, v = random.standard_normal((2, batch, key_heads, keys, head_size))
        return q.astype(np.float32), k.astype(np.float32), v.astype(np.float32)

    def check(case, sizes, got, expected, tolerance):
        batch, query_heads, key_heads, queries, keys, head_size = sizes
        shape = f"{batch}, {query_heads}/{key_heads}, {queries}/{keys}, {head_size}"
        report.check(case, shape, got, expected, tolerance)

    for case, sizes, options in (
        ("one query, one key", (1, 1, 1, 1, 1, 1), {}),
        ("all keys", (2, 3, 3, 17, 17, 40), {}),
        ("all keys, several blocks", (1, 1, 1, 5, 257, 64), {}),
        ("causal", (2, 2, 2, 33, 33, 64), {"causal": True}),
        ("causal, several blocks", (1, 1, 1, 70, 70, 32), {"causal": True}),
        ("causal, window 1", (1, 2, 2, 9, 9, 16), {"causal": True, "window": 1}),
        ("causal, window 8", (1, 2, 2, 40, 40, 16), {"causal": True, "window": 8}),
        ("window 5, both sides", (1, 2, 2, 33, 33, 16), {"window": 5}),
        ("grouped-query, 3 heads share one", (2, 6, 2, 10, 10, 32), {"causal": True}),
        ("multi-query", (1, 4, 1, 10, 10, 32), {"causal": True}),
        ("decoding: one query, long cache", (1, 4, 2, 1, 301, 128), {"causal": True}),
        ("decoding with a window", (1, 4, 2, 3, 301, 64), {"causal": True, "window": 100}),
        ("more queries than keys: some see none", (1, 1, 1, 6, 4, 8), {"causal": True}),
        ("largest head", (1, 1, 1, 3, 40, 256), {}),
    ):
        q, k, v = inputs(*sizes)
        got = attention(q, k, v, group_size=32, **options)
        check(case, sizes, got, reference(q, k, v, **options), 16 * rounding["float32"])

    sizes = (1, 2, 1, 20, 150, 48)
    q, k, v = inputs(*sizes)
    for group_size in (32, 50, 64, 128, 1024):
        got = attention(q, k, v, causal=True, group_size=group_size)
        check(f"threadgroups of {group_size}", sizes, got, reference(q, k, v, causal=True), 16 * rounding["float32"])
    large = 30 * q  # scores in the hundreds: exp without the largest taken off would overflow
    check("large scores", sizes, attention(large, k, v), reference(large, k, v), 256 * rounding["float32"])

    nan = q.copy()
    nan[0, 0, 3, 5] = np.nan  # spoils its own row, and only that
    check("a NaN in one query", sizes, attention(nan, k, v), reference(nan, k, v), 16 * rounding["float32"])

    halves = [array.astype(np.float16) for array in (q, k, v)]
    check("half", sizes, attention(*halves), reference(*halves), 2 * rounding["float16"])
    bits = [to_bfloat(array) for array in (q, k, v)]
    got = from_bfloat(attention(*bits, kernel=lib.attention_bfloat))
    check("bfloat", sizes, got, reference(*map(from_bfloat, bits)), 2 * rounding["bfloat16"])
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
