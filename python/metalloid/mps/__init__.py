"""Runs PyTorch scripts that were written for a Mac: device "mps" on Linux, with Metal kernels on Metalloid.

    python -m metalloid.mps script.py arguments...
    python -m metalloid.mps -m module arguments...
    python -m metalloid.mps -c code
    python -m metalloid.mps - arguments...      (code from standard input)
    python -m metalloid.mps --macos 26 ...      (a macOS 26 with Metal 4; default: macOS 15 with Metal 3.2)

Tensors on "mps" report that device and obey its rules, ordinary operators compute them on the CPU, and
``torch.mps.compile_shader`` runs kernels with Metalloid. Processes that the script starts do the same (they find
``METALLOID_MPS=1`` and ``METALLOID_MACOS`` in their environment). Importing metalloid alone changes nothing in torch.

How it works, one module per idea: ``tags`` remembers which tensors are on "mps", ``device_mode`` sees every torch
function and gives results their tag, ``backend`` fills in ``torch.mps`` and ``torch.backends.mps``, ``timeline`` has
its events and streams, ``_install`` applies all of this once torch is imported, also in child
processes.
"""

from .._runners import runners

install_on_import = runners["mps"].activate

__all__ = ["install_on_import"]
