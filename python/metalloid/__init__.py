"""Compiles Metal Shading Language compute kernels on Linux and runs them.

>>> import numpy, metalloid
>>> lib = metalloid.compile_shader("kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }")
>>> x = numpy.arange(4, dtype=numpy.float32)
>>> lib.twice(x)
>>> x
array([0., 2., 4., 6.], dtype=float32)

PYTEST_DONT_REWRITE: there are no assertions here, and child processes of a runner import this package before pytest.
"""

from . import _fork_barrier  # before all else

_fork_barrier.install()
with _fork_barrier.importing:
    import importlib
    import importlib.util
    import sys
    from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import aten, coreai, fast
    from ._arguments.policy import ArgumentPolicy
    from ._checking import Check, CheckError, Finding, check
    from ._core import Error, devices, engines
    from ._core import version as __version__
    from ._device import default_device, set_default_device
    from ._diagnostics.trace import start_trace, stop_trace, trace_file
    from ._errors import AcceleratorError, synchronize
    from ._shader import Kernel, ShaderLibrary, compile_shader
    from ._torch_metal_kernel.kernel import TorchMetalKernel
    from ._torch_metal_kernel.source import MetalParameter
    from ._torch_metal_kernel.verify import VerificationError
    from ._tune import TuneResult, tune


def _refuse_subinterpreters() -> None:
    """The compiler's module (nanobind) keeps its types for the whole process, and they end with any interpreter."""
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            interpreters = importlib.import_module(name)
        except ImportError:
            continue
        if interpreters.get_current() != interpreters.get_main():
            raise ImportError(
                "metalloid works in the main interpreter of a process only, and this is a subinterpreter "
                "(with mod_wsgi: WSGIApplicationGroup %{GLOBAL}); use processes or threads instead",
                name=__name__,
            )
        return


with _fork_barrier.importing:
    _refuse_subinterpreters()

# Everything is imported when it is first asked for: the pytest plugin and the runners' start-up code live in this
# package and must not cost programs without kernels the time to load a compiler, nor those without tensors torch.
_homes = {
    "AcceleratorError": "_errors",
    "ArgumentPolicy": "_arguments.policy",
    "Check": "_checking",
    "CheckError": "_checking",
    "Error": "_core",
    "Finding": "_checking",
    "Kernel": "_shader",
    "MetalParameter": "_torch_metal_kernel.source",
    "ShaderLibrary": "_shader",
    "TorchMetalKernel": "_torch_metal_kernel.kernel",
    "TuneResult": "_tune",
    "VerificationError": "_torch_metal_kernel.verify",
    "__version__": "_core",
    "aten": "aten",
    "check": "_checking",
    "compile_shader": "_shader",
    "coreai": "coreai",
    "default_device": "_device",
    "devices": "_core",
    "engines": "_core",
    "fast": "fast",
    "load_metallib": "_metallib",
    "set_default_device": "_device",
    "start_trace": "_diagnostics.trace",
    "stop_trace": "_diagnostics.trace",
    "synchronize": "_errors",
    "trace_file": "_diagnostics.trace",
    "tune": "_tune",
}
_other_names = {"__version__": "version"}

__all__ = [
    "AcceleratorError",
    "ArgumentPolicy",
    "Check",
    "CheckError",
    "Error",
    "Finding",
    "Kernel",
    "MetalParameter",
    "ShaderLibrary",
    "TorchMetalKernel",
    "TuneResult",
    "VerificationError",
    "__version__",
    "aten",
    "check",
    "compile_shader",
    "coreai",
    "default_device",
    "devices",
    "engines",
    "fast",
    "load_metallib",
    "set_default_device",
    "start_trace",
    "stop_trace",
    "synchronize",
    "trace_file",
    "tune",
]
# help(metalloid) and import * ask for all of them.
with _fork_barrier.importing:
    _has_torch = (
        sys.modules["torch"] is not None if "torch" in sys.modules else importlib.util.find_spec("torch") is not None
    )
if not _has_torch:
    for _name in ("TorchMetalKernel", "VerificationError", "coreai"):
        __all__.remove(_name)


def __getattr__(name: str) -> object:
    if name not in _homes:
        raise AttributeError(f"module 'metalloid' has no attribute {name!r}")
    try:
        with _fork_barrier.importing:
            module = importlib.import_module(f".{_homes[name]}", __name__)
    except ModuleNotFoundError as error:
        package = (error.name or __name__).partition(".")[0]
        if package == __name__:
            raise
        raise ModuleNotFoundError(
            f"metalloid.{name} needs {package}, which {sys.executable} does not have (pip install {package})",
            name=package,
        ) from None
    value = module if name == _homes[name] else getattr(module, _other_names.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


_fork_barrier.complete(__name__)
