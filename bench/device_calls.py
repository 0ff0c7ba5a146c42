"""What operators of PyTorch on "mps" cost beside the work, as JSON: python -m metalloid.mps bench/device_calls.py.

Those that fall back are compared with the CPU's own call, those that are Metal kernels with the bare launch of the kernel.
Both calls of a pair take turns, so that what else the machine does hits both.
"""

import functools
import json
import pathlib
import statistics
import time

import torch

from metalloid import _cpp_files
from metalloid.mps import _plugin
from metalloid.mps._plugin.compile import Unit, build

REPETITIONS, SECONDS, ELEMENTS = 15, 0.02, 64
HERE = pathlib.Path(__file__).parent
HOME = _cpp_files.torch_mps_folder()

FALLING_BACK = {
    "linalg.cross": (torch.linalg.cross, (-1, 3), (-1, 3)),
    "frexp": (torch.frexp, (-1,)),
    "isin": (torch.isin, (-1,), (4,)),
    "histc": (torch.histc, (-1,)),
    "mode": (torch.mode, (-1,)),
    "renorm": (lambda x: torch.renorm(x, 2, 0, 1.0), (-1, 8)),
    "cdist": (torch.cdist, (-1, 8), (4, 8)),
    "linalg.cholesky_ex": (torch.linalg.cholesky_ex, (-1, 4, 4)),
}
# Kernel and its source.
METAL = {
    "add": (torch.add, 2, "add_dense_float_float", "Arithmetic"),
    "mul": (torch.mul, 2, "mul_dense_float_float", "Arithmetic"),
    "sigmoid": (torch.sigmoid, 1, "sigmoid_dense_scalar_float_float", "Elementary"),
    "exp": (torch.exp, 1, "exp_dense_scalar_float_float", "Elementary"),
}


def medians(*calls):
    """Seconds of this thread that each call takes."""
    counts, results = [], [[] for _ in calls]
    for call in calls:
        call()
        begin = time.perf_counter()
        for _ in range(10):
            call()
        counts.append(max(10, int(SECONDS / ((time.perf_counter() - begin) / 10))))
    for _ in range(REPETITIONS):
        for call, count, times in zip(calls, counts, results, strict=True):
            begin = time.thread_time()
            for _ in range(count):
                call()
            times.append((time.thread_time() - begin) / count)
    return [statistics.median(times) for times in results]


def tensor(sizes, elements):
    known = 1
    for size in sizes:
        known *= abs(size)
    return torch.rand([elements // known if size < 0 else size for size in sizes])


def measure_fallbacks(device):
    for name, (function, *sizes) in FALLING_BACK.items():
        for elements in (ELEMENTS, 65536):
            here = [tensor(one, elements) for one in sizes]
            there = [one.to("mps") for one in here]
            function(*there)
            device.reset_fallbacks()
            function(*there)
            if not device.fallbacks():
                break  # it has a kernel by now
            mps, cpu = medians(lambda: function(*there), lambda: function(*here))
            yield f"{name}/{elements}", {"mps": mps, "cpu": cpu}


def measure_kernels(device):
    library = build("libmetalloid_bench.so", [Unit(HERE / "device_launch.cpp", (HOME, HOME / "host", _cpp_files.sdk_include_folder()))])
    _plugin.load_library("libmetalloid_bench.so", library)
    for name, (function, inputs, kernel, source) in METAL.items():
        text = (HOME / "operators" / "kernels" / f"{source}.metal").read_text()
        given = [torch.rand(ELEMENTS, device="mps") for _ in range(inputs)]
        out = torch.empty(ELEMENTS, device="mps")
        device.reset_fallbacks()
        function(*given, out=out)
        assert device.fallbacks() == {}, name
        launch = functools.partial(torch.ops.metalloid_bench.seconds_per_launch, text, kernel, [out, *given], 2000)
        bare = statistics.median(launch() for _ in range(REPETITIONS))
        called, new = medians(lambda: function(*given, out=out), lambda: function(*given))
        yield name, {"call": called, "call_with_new_result": new, "launch": bare}


def main():
    torch.set_num_threads(1)
    device = _plugin.device()
    print(json.dumps({"fallback": dict(measure_fallbacks(device)), "kernel": dict(measure_kernels(device))}))


if __name__ == "__main__":
    main()
