"""torch.compile on the device "mps": TorchInductor's own Metal kernels run on Metalloid and compute what eager mode does.

The functions and models are in inductor/; one process of the runner, which has loaded torch, compiles one after the
other as they are asked for.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("torch")
HERE = pathlib.Path(__file__).parent / "inductor"
sys.path.insert(0, str(HERE))

import cases  # noqa: E402
import models  # noqa: E402

NAMES = [*cases.CASES, *models.TRAININGS]
FAILURES = {
    "batch_norm_in_training": "Inductor's own bug: each thread of a threadgroup reads a running statistic, and all write "
    "it in place, without an order; the last of threads that run one after the other has updated it many times",
}


class Comparison:
    """A process that compares; after one that crashed there is another."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None

    def _start(self) -> subprocess.Popen[str]:
        reading, writing = os.pipe()
        process = subprocess.Popen(
            [sys.executable, "-m", "metalloid.mps", HERE / "compare.py", str(writing)],
            env={
                **os.environ,
                "TORCHINDUCTOR_CACHE_DIR": str(self._folder / "cache"),
                "TORCHINDUCTOR_COMPILE_THREADS": "1",
            },
            stdin=subprocess.PIPE,
            stdout=(self._folder / "output").open("w"),
            stderr=subprocess.STDOUT,
            pass_fds=[writing],
            text=True,
        )
        os.close(writing)
        self._results = os.fdopen(reading)
        return process

    def error_of(self, name: str) -> str | None:
        """The text of the error, if any, that the function or model ends with."""
        if self._process is None:
            self._process = self._start()
        with contextlib.suppress(BrokenPipeError):  # it ended, and has no result either
            print(name, file=self._process.stdin, flush=True)
        line = self._results.readline()
        if line:
            return json.loads(line)["error"]
        code = self.stop()
        return f"the process ended with {code}:\n{(self._folder / 'output').read_text()[-4000:]}"

    def stop(self) -> int | None:
        """Ends the process, if there is one; its exit code."""
        process, self._process = self._process, None
        if process is None:
            return None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        self._results.close()
        return process.wait()


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    process = Comparison(tmp_path_factory.mktemp("inductor"))
    yield process
    process.stop()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.xfail(strict=True, reason=FAILURES[name])) if name in FAILURES else name
        for name in NAMES
    ],
)
def test_agrees_with_eager_mode(comparison, name):
    error = comparison.error_of(name)
    assert error is None, error


IMAGES_STAY = """
import torch
from torch._inductor.utils import run_and_get_code

convolution = torch.nn.Conv2d(128, 96, 3, padding=1).to("mps")
image = torch.randn(2, 128, 8, 8, device="mps")
with torch.no_grad():
    result, (code,) = run_and_get_code(torch.compile(lambda x: convolution(x).relu()), image)
    assert torch.allclose(result.cpu(), convolution(image).relu().cpu(), atol=1e-5)
assert "(2, 96, 8, 8), (6144, 64, 8, 1)" in code and "(6144, 1, 768, 96)" not in code, code
"""


def test_images_stay_in_rows(tmp_path):
    """Inductor would turn an image to channels last and back for each convolution."""
    (tmp_path / "images.py").write_text(IMAGES_STAY)
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache"), "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    command = [sys.executable, "-m", "metalloid.mps", tmp_path / "images.py"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
