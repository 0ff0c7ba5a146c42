"""The PyTorch runner where torch is found in other ways than by its path, and compiled operators under it."""

import pathlib
import shutil
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

OTHER_FINDER = """
import importlib.machinery, os, sys
site = [entry for entry in sys.path if os.path.isdir(os.path.join(entry, "torch"))]
class Editable:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return importlib.machinery.PathFinder.find_spec(name, path or site, target)
sys.path[:] = [entry for entry in sys.path if entry not in site]
"""


def run(code, *options):
    return subprocess.run(
        [sys.executable, "-m", "metalloid.mps", *options, "-c", code], capture_output=True, text=True, timeout=1200
    )


def test_editable_torch():
    result = run(OTHER_FINDER + "sys.meta_path.append(Editable)\nimport torch\nprint(torch.ones(1, device='mps').device)")
    assert result.stdout == "mps:0\n", result.stderr


def test_a_finder_that_comes_first_is_told_of():
    result = run(OTHER_FINDER + "sys.meta_path.insert(0, Editable)\nimport torch\nprint(torch.backends.mps.is_available())")
    assert result.stdout == "False\n"
    assert "METALLOID_MPS had no effect: torch was imported by SourceFileLoader" in result.stderr


def test_asking_for_the_spec_does_no_harm():
    code = "import importlib.util\nassert importlib.util.find_spec('torch')\nimport torch\nprint(torch.mps.is_available())"
    result = run(code)
    assert (result.stdout, result.stderr) == ("True\n", "")


@pytest.fixture(scope="module")
def extension(tmp_path_factory):
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    folder = tmp_path_factory.mktemp("extension")
    (folder / "extension.cpp").write_text("""
    #include <ATen/core/dispatch/Dispatcher.h>
    #include <torch/library.h>
    at::Tensor on_cpu(const at::Tensor& x) { return x; }
    at::Tensor on_mps(const at::Tensor& x) { return x; }
    TORCH_LIBRARY(extension_for_mps, m) {
      m.def("both(Tensor x) -> Tensor");
      m.def("only.overload(Tensor x) -> Tensor");
      m.def("cpu(Tensor x) -> Tensor");
      m.def("through(Tensor x) -> Tensor");  // calls "both" in C++
    }
    at::Tensor through(const at::Tensor& x) {
      return c10::Dispatcher::singleton().findSchemaOrThrow("extension_for_mps::both", "")
          .typed<at::Tensor(const at::Tensor&)>().call(x);
    }
    TORCH_LIBRARY_IMPL(extension_for_mps, CompositeImplicitAutograd, m) { m.impl("through", through); }
    TORCH_LIBRARY_IMPL(extension_for_mps, CPU, m) { m.impl("both", on_cpu); m.impl("cpu", on_cpu); }
    TORCH_LIBRARY_IMPL(extension_for_mps, MPS, m) { m.impl("both", on_mps); m.impl("only.overload", on_mps); }
    """)
    root = pathlib.Path(torch.__file__).parent
    subprocess.run(
        [compiler, "-std=c++20", "-O0", "-shared", "-fPIC", f"-I{root}/include",
         f"-I{root}/include/torch/csrc/api/include", str(folder / "extension.cpp"), "-o", str(folder / "extension.so"),
         f"-L{root}/lib", "-lc10", "-ltorch_cpu"], check=True, timeout=1200,
    )  # fmt: skip
    return folder / "extension.so"


def test_compiled_kernels_for_mps_run(extension):
    result = run(f"""
import torch
torch.ops.load_library({str(extension)!r})
library = torch.ops.extension_for_mps
x = torch.zeros(2, device="mps")
for operator in (library.both, library.both.default, library.only, library.only.overload, library.through):
    print(operator(x).device)
print(library.both(torch.zeros(2)).device, library.through(torch.ones(2)).tolist(), torch.ops.aten.relu(x).device)
for call in (lambda: library.cpu(x), lambda: library.only(torch.zeros(2))):
    try: call()
    except NotImplementedError as error: print(str(error)[:67])
""")
    assert result.stdout.splitlines() == [
        *["mps:0"] * 5,
        "cpu [1.0, 1.0] mps:0",
        "The operator 'extension_for_mps::cpu' is not currently implemented ",
        "Could not run 'extension_for_mps::only.overload' with arguments fro",
    ], result.stderr
