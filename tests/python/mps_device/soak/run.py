"""Runs soak.cpp on the device mps: `python -m metalloid.mps run.py SECONDS`."""

import ctypes
import faulthandler
import pathlib
import sys
import tempfile

import torch

from metalloid.mps._plugin.compile import Unit, build

# Where it is, if it does not come to an end: the library says so of its threads, this of what is before and after.
faulthandler.dump_traceback_later(float(sys.argv[1]) + 240, exit=True)
assert torch.backends.mps.is_available()
steps = ctypes.c_uint64()
with tempfile.TemporaryDirectory() as folder:
    library = pathlib.Path(folder) / "libsoak.so"
    library.write_bytes(build(library.name, [Unit(pathlib.Path(__file__).with_name("soak.cpp").resolve())]))
    soak = ctypes.CDLL(str(library)).soak
    soak.restype, soak.argtypes = ctypes.c_char_p, [ctypes.c_double, ctypes.POINTER(ctypes.c_uint64)]
    failures = soak(float(sys.argv[1]), ctypes.byref(steps)).decode()
print(f"{steps.value} steps")
sys.exit(failures or 0)
