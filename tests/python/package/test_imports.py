"""The package's modules can be imported in any order: none needs another to come first, and no imports run in circles."""

import ast
import graphlib
import subprocess
import sys

import pytest
from conftest import root

folder = root / "python" / "metalloid"
modules = {
    ".".join(file.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__"): file
    for file in sorted([*folder.rglob("*.py"), *folder.rglob("*.pyi")])
    if file.parent.name != "startup"  # Python's own start imports that one, by its own name
}

# What others made is there already; each module of the package comes into a process without any.
IMPORT_ALONE = """
import importlib, os, sys, traceback
missing = set()
for name in ("numpy", "pytest", "torch", "mlx.core"):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        missing.add(name.partition(".")[0])
assert not any(name.partition(".")[0] == "metalloid" for name in sys.modules)
failed = 0
for name in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        status = 1
        try:
            importlib.import_module(name)
            status = 0
        except ModuleNotFoundError as error:
            status = 0 if error.name.partition(".")[0] in missing else 1
        except BaseException:
            pass
        if status:
            print(name, file=sys.stderr)
            traceback.print_exc()
        sys.stderr.flush()
        os._exit(status)
    failed += os.waitpid(child, 0)[1] != 0
sys.exit(failed != 0)
"""


def test_every_module_can_be_imported_alone():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", IMPORT_ALONE, *modules], capture_output=True, text=True, timeout=1200
    )
    assert done.returncode == 0, done.stderr
    assert len(modules) > 40


def imports_of(name, source, known):
    """The modules of the package that a module names, those for type checkers and inside of functions, too."""
    package = name if known[name].name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                found.add(f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else base)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & known.keys() - {name}


def circle_in(graph):
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return None


def test_no_imports_run_in_circles():
    graph = {name: imports_of(name, file.read_text(), modules) for name, file in modules.items()}
    assert circle_in(graph) is None
    assert "metalloid.fast._call" in graph["metalloid.fast._kernel"]


@pytest.mark.parametrize(
    "back", ["from . import b", "from .b import f", "import p.b", "def f():\n    from .b import g", "from p import b"]
)
def test_a_circle_is_found(back):
    known = {"p": folder / "__init__.py", "p.a": folder / "a.py", "p.b": folder / "b.py"}
    sources = {"p": "from .a import f", "p.a": back, "p.b": "from .a import f"}
    graph = {name: imports_of(name, text, known) for name, text in sources.items()}
    assert set(circle_in(graph)) == {"p.a", "p.b"}
    assert circle_in(graph | {"p.b": set()}) is None
