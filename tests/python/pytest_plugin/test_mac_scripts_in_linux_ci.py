"""docs/mac-scripts-in-linux-ci.md: its examples run, and its workflow says what is true."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from test_pytest_plugin import needs_torch, package_folder, root

pytest_plugins = "pytester"
page = (root / "docs" / "mac-scripts-in-linux-ci.md").read_text()


def block(title):
    (found,) = re.findall(rf'^```\w+ title="{re.escape(title)}"\n(.*?)^```', page, re.DOTALL | re.MULTILINE)
    return found


def commands(prefix):
    return re.findall(rf"^    \$ {re.escape(prefix)} (.*)\n((?:    .+\n|\n(?=    ))*)", page, re.MULTILINE)


@pytest.fixture
def folder(pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(package_folder))
    for title in ("scale.py", "test_scale.py", "test_kernels.py", "kernels/add.metal"):
        path = pytester.path / title
        path.parent.mkdir(exist_ok=True)
        path.write_text(block(title))
    return pytester


@needs_torch
def test_script(folder):
    ((arguments, output),) = commands("python")
    done = subprocess.run(
        [sys.executable, *shlex.split(arguments)], capture_output=True, text=True, cwd=folder.path, timeout=1200
    )
    assert done.stdout == output.replace("    ", "").strip() + "\n", done.stderr


@needs_torch
def test_suite(folder):
    ((arguments, output),) = commands("pytest")
    result = folder.runpytest_subprocess("-p", "metalloid.pytest_plugin", *shlex.split(arguments))
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines([output.split("...\n")[1].strip()])


def test_kernels(folder):
    result = folder.runpytest_subprocess("-p", "metalloid.pytest_plugin", "--strict-markers", "-v", "test_kernels.py")
    result.stdout.fnmatch_lines(["test_kernels.py::test_add[[]reference] PASSED*"])


def test_report(folder):
    """The section that the page shows."""
    (shown,) = re.findall(r"^    -+ (Metal kernel 'far') -+\n(.*?)\n\n\S", page, re.DOTALL | re.MULTILINE)
    expected = re.sub(r"^    ", "", shown[1], flags=re.MULTILINE)
    source = re.findall(r"^[> ] +\d+ \| (.*)$", expected, re.MULTILINE)
    folder.makepyfile(
        test_far=f"""
        import numpy
        def test_far(metal_library):
            lib = metal_library({chr(10).join(source)!r})
            lib.far(numpy.zeros(8, numpy.float32), group_size=4)
        """
    )
    result = folder.runpytest_subprocess("-p", "metalloid.pytest_plugin", "test_far.py")
    found = result.stdout.str()
    found = found.replace(f", on {os.environ.get('METALLOID_DEVICE', 'cpu')}", ", on cpu")
    # Whichever threadgroup was first.
    for second, first in (("6846980 of", "6846976 of"), ("387920 to", "387904 to"), ("387923 of", "387907 of"), ("(4, 0", "(0, 0")):
        found = found.replace(second, first)
    assert expected in found


def test_options_exist(folder):
    text = folder.runpytest_subprocess("-p", "metalloid.pytest_plugin", "--help").stdout.str()
    for option in set(re.findall(r"--metalloid-[\w-]+", page)):
        assert re.search(rf"^  {option}\b", text, re.MULTILINE), option
    for key in set(re.findall(r"\bmetalloid_\w+(?= = )", page)):
        assert re.search(rf"^  {key} \(", text, re.MULTILINE), key


# The workflow.


@pytest.fixture(scope="module")
def job():
    yaml = pytest.importorskip("yaml")
    workflow = yaml.safe_load(block("metal.yml"))
    assert workflow[True] == ["push", "pull_request"]  # YAML 1.1 reads `on` as true
    (job,) = workflow["jobs"].values()
    return job


def step(job, name):
    (found,) = [step for step in job["steps"] if step.get("name") == name]
    return found


def test_workflow_is_whole(job):
    assert job["runs-on"] and job["container"] == "debian:12"
    for each in job["steps"]:
        assert ("uses" in each) != ("run" in each), each
        if "run" in each:
            checked = subprocess.run(["bash", "-n", "-c", each["run"]], capture_output=True, text=True)
            assert checked.returncode == 0, checked.stderr
    identifiers = {each["id"] for each in job["steps"] if "id" in each}
    assert set(re.findall(r"\bsteps\.(\w+)\.", block("metal.yml"))) == identifiers
    assert set(re.findall(r"\benv\.(\w+)", block("metal.yml"))) <= set(job["env"])


def test_workflow_uses_scripts_that_exist(job):
    text = step(job, "Build the wheel")["run"]
    checkouts = [each["with"] for each in job["steps"] if "checkout" in each.get("uses", "") and "with" in each]
    (checkout,) = [each["path"] for each in checkouts]
    scripts = re.findall(rf"^{re.escape(checkout)}/(\S+\.sh)", text, re.MULTILINE)
    assert scripts and all((root / script).stat().st_mode & 0o111 for script in scripts)
    assert f"./{checkout}" in text and f"git -C {checkout} " in step(job, "Which Metalloid")["run"]


@pytest.mark.skipif(shutil.which("dpkg") is None, reason="not a Debian system")
def test_workflow_installs_what_the_library_links_to(job):
    """The wheel is kept between runs; its libraries must be there without the compilers."""
    library = max(pathlib.Path(package_folder).parent.rglob("libmetalloid.so"))
    linked = subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout
    base = {"libc6", "libgcc-s1", "libstdc++6"}  # libstdc++6 comes with the others
    for path in re.findall(r"=> (/\S+)", linked):
        file = pathlib.Path(path).resolve()
        pattern = f"*/{file.parent.name}/{file.name}"  # in /lib or /usr/lib
        owner = subprocess.run(["dpkg", "-S", pattern], capture_output=True, text=True, check=True)
        package = owner.stdout.partition(":")[0]
        assert package in base or package in step(job, "What the container lacks")["run"].split(), package


@needs_torch
def test_workflow_tests(job, folder):
    """The step's own command, on the page's suite."""
    (command,) = step(job, "Test")["run"].strip().splitlines()
    interpreter, *arguments = shlex.split(command)
    assert interpreter == ".venv/bin/python"
    (folder.path / "test_kernels.py").unlink()
    for place in (".metalloid/tests", ".venv/lib"):  # tests of others, in the places that the workflow fills
        (folder.path / place).mkdir(parents=True)
        (folder.path / place / "test_others.py").write_text("def test_others(): assert False")
    result = folder.run(sys.executable, *arguments, "-p", "metalloid.pytest_plugin")
    assert result.ret == 0
    result.assert_outcomes(passed=3)
    (folder.path / "test_scale.py").write_text("def test_returns_early():\n    return\n")
    assert folder.run(sys.executable, *arguments, "-p", "metalloid.pytest_plugin").ret == 1
