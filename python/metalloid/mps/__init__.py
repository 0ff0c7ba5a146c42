"""Runs PyTorch scripts that were written for a Mac: device "mps" on Linux, with Metal kernels on Metalloid.

    python -m metalloid.mps script.py arguments...
    python -m metalloid.mps -m module arguments...
    python -m metalloid.mps -c code
    python -m metalloid.mps - arguments...      (code from standard input)
    python -m metalloid.mps --macos 26 ...      (a macOS 26 with Metal 4; default: macOS 15 with Metal 3.2)

"mps" is a real device of torch then, in C++: tensors, autograd, torch.compile and C++ extensions find it under PyTorch's
own dispatch key. It is compiled for the torch that is installed, on first use, and kept in Metalloid's cache; the package
metalloid-torch-mps has it compiled. Operators
run as Metal kernels of Metalloid's own where there are some, else on the CPU over the same memory; kernels of
``torch.mps.compile_shader`` run with Metalloid. Processes that the script starts do the same (they find ``METALLOID_MPS=1``
and ``METALLOID_MACOS`` in their environment). Importing metalloid alone changes nothing in torch.

How it works: ``torch_mps/`` is the device in C++, ``_plugin`` compiles and loads it, ``backend``, ``storages`` and
``streams`` fill in what torch's Python lacks on Linux, ``_install`` applies all of this once torch is imported, also in
child processes.
"""

from .._runners import runners

install_on_import = runners["mps"].activate

__all__ = ["install_on_import"]
