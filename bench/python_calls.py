"""Seconds that calls of one-thread kernels take from Python, as JSON: what the call models cost."""

import json
import statistics
import time

import numpy

import metalloid

try:
    import mlx.core as mx
except ImportError:
    mx = None
try:
    import torch
except ImportError:
    torch = None

CALLS, REPETITIONS, CHAIN = 500, 9, 100


def median_seconds(call, calls=CALLS):
    call()
    results = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        results.append((time.perf_counter() - start) / calls)
    return statistics.median(results)


def main():
    one = metalloid.fast.metal_kernel("one", ["x"], ["y"], "y[0] = x[0];")
    launch = dict(grid=(1, 1, 1), threadgroup=(1, 1, 1), output_shapes=[(64,)])
    x, y = numpy.zeros(64, numpy.float32), numpy.zeros(64, numpy.float32)
    library = metalloid.compile_shader("kernel void one(device float* y, device const float* x) { y[0] = x[0]; }")
    results = {
        "compile_shader_numpy": median_seconds(lambda: library.one(y, x, threads=1, group_size=1)),
        "metal_kernel_numpy": median_seconds(lambda: one(inputs=[x], output_dtypes=[x.dtype], **launch)),
    }
    if mx is not None:
        a = mx.zeros(64)
        mx.eval(a)
        from metalloid.mlx import set_evaluation

        set_evaluation("lazy")
        results["metal_kernel_mlx_call"] = median_seconds(lambda: one(inputs=[a], output_dtypes=[a.dtype], **launch))
        for evaluation in ("lazy", "eager"):
            set_evaluation(evaluation)
            results[f"metal_kernel_mlx_{evaluation}"] = median_seconds(
                lambda: mx.eval(one(inputs=[a], output_dtypes=[a.dtype], **launch))
            )
        set_evaluation("lazy")

        def chain():
            result = a
            for _ in range(CHAIN):
                result = one(inputs=[result], output_dtypes=[a.dtype], **launch)[0]
            mx.eval(result)

        results["metal_kernel_mlx_chain"] = median_seconds(chain, CALLS // CHAIN) / CHAIN
        results["mlx_exp"] = median_seconds(lambda: mx.eval(mx.exp(a)))
    if torch is not None:
        t = torch.zeros(64)
        results["metal_kernel_torch"] = median_seconds(lambda: one(inputs=[t], output_dtypes=[t.dtype], **launch))
    print(json.dumps(results))


if __name__ == "__main__":
    main()
