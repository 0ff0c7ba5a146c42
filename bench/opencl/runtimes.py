"""OpenCL's platforms, which run the cases of cases.py (see workers.py)."""

import contextlib
import io
import warnings

import numpy
from cases import make_case


class OpenClPlatform:
    # What Metal's math mode "fast" stands for.
    options = ("-cl-std=CL3.0", "-cl-fast-relaxed-math")
    engine = first_engine = None

    def __init__(self, name: str) -> None:
        import pyopencl

        self._opencl = pyopencl
        (platform,) = (each for each in pyopencl.get_platforms() if each.name == name)
        device = platform.get_devices(pyopencl.device_type.CPU)[0]
        self.description = f"{platform.version.strip()} on {device.name.strip()}, driver {device.driver_version}"
        self._context = pyopencl.Context([device])
        self._queue = pyopencl.CommandQueue(self._context)

    def prepare(self, name: str):
        cl = self._opencl
        case = self._case = make_case(name)
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")  # compilers' logs
            program = cl.Program(self._context, case.file.with_suffix(".cl").read_text()).build(list(self.options))
        kernel = cl.Kernel(program, name)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR  # no copies, and memory as Metalloid's devices get
        self._buffers = []
        values = []
        for argument in case.arguments:
            if isinstance(argument, numpy.ndarray):
                self._buffers.append((cl.Buffer(self._context, flags, hostbuf=argument), argument))
                argument = self._buffers[-1][0]
            values.append(argument)
        kernel.set_args(*values)

        def run() -> None:
            cl.enqueue_nd_range_kernel(self._queue, kernel, case.grid, case.group)
            self._queue.finish()

        return run

    def results(self) -> list[numpy.ndarray]:
        cl, results = self._opencl, []
        for buffer, array in self._buffers[: self._case.results]:
            result = numpy.empty_like(array)
            cl.enqueue_copy(self._queue, result, buffer)
            results.append(result)
        return results


def platforms() -> dict[str, str]:
    """Names for people, and the own names of OpenCL's platforms with a CPU."""
    import pyopencl

    short = {"Portable Computing Language": "PoCL", "Intel(R) OpenCL": "Intel"}
    found = [each.name for each in pyopencl.get_platforms() if each.get_devices(pyopencl.device_type.CPU)]
    return {short.get(name, name): name for name in found}
