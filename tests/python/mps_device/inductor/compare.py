"""Compiles functions and models for the device "mps" and compares them with eager mode and with the CPU.

python -m metalloid.mps compare.py DESCRIPTOR: for each name, a line of its input, it writes a line of JSON to the file
with that number, {"name", "error", "seconds"}.
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
import time
import traceback
import zlib
from typing import Any

import torch
from torch.utils._pytree import tree_map

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cases
import models

launched = 0


class Counted:
    """A library of Inductor's kernels that counts their launches."""

    def __init__(self, library: Any) -> None:
        self._library = library

    def __getattr__(self, name: str) -> Any:
        kernel = getattr(self._library, name)

        def launch(*arguments: Any, **options: Any) -> Any:
            global launched
            launched += 1
            return kernel(*arguments, **options)

        return launch


def count_launches() -> None:
    compile_shader = torch.mps.compile_shader
    torch.mps.compile_shader = lambda source: Counted(compile_shader(source))


def on(device: str, values: Any) -> Any:
    return tree_map(lambda one: one.detach().clone().to(device) if isinstance(one, torch.Tensor) else one, values)


def computed(function: Any, inputs: list[Any], trains: bool) -> Any:
    if not trains:
        return function(*inputs)
    for one in inputs:
        if isinstance(one, torch.Tensor) and one.is_floating_point():
            one.requires_grad_()
    result = function(*inputs)
    result.backward(torch.linspace(0.5, 1.5, result.numel()).reshape(result.shape).to(result.device))
    return [result, *(one.grad for one in inputs if isinstance(one, torch.Tensor))]


def check(actual: Any, expected: Any, tolerance: tuple[float, float] | None) -> None:
    limits = {} if tolerance is None else {"atol": tolerance[0], "rtol": tolerance[1]}
    torch.testing.assert_close(on("cpu", actual), on("cpu", expected), equal_nan=True, **limits)


def run_case(case: cases.Case) -> None:
    lists = case.inputs() if case.dynamic else [case.inputs()]
    torch._inductor.config.fallback_random = case.by_eager_random
    compiled = torch.compile(case.function, fullgraph=True, dynamic=True if case.dynamic else None)
    for number, inputs in enumerate(lists):
        before = launched
        torch.manual_seed(1)
        actual = computed(compiled, on("mps", inputs), case.trains)
        assert launched - before >= case.kernels, f"{launched - before} generated kernels ran"
        assert all(one.is_mps for one in torch.utils._pytree.tree_leaves(actual) if isinstance(one, torch.Tensor))
        torch.manual_seed(1)
        check(actual, computed(case.function, on("mps", inputs), case.trains), case.tolerance)
        if not case.by_eager_random:
            check(actual, computed(case.function, on("cpu", inputs), case.trains), case.tolerance)
        if number == 0:
            torch._dynamo.config.error_on_recompile = case.dynamic
    torch._dynamo.config.error_on_recompile = False


def run_training(training: models.Training) -> None:
    inputs = training.inputs()
    initial = training.model().state_dict()
    outcomes = []
    for device, compiles in (("mps", True), ("mps", False), ("cpu", False)):
        model = training.model()
        model.load_state_dict(initial)
        model.to(device)
        optimizer = training.optimizer(model.parameters())
        forward = torch.compile(model, fullgraph=True) if compiles else model
        # The optimiser's Python is skipped around its step unless the step is compiled by itself.
        step = torch.compile(lambda: optimizer.step()) if compiles and training.compiles_optimizer else optimizer.step
        before, losses = launched, []
        for _ in range(training.steps):
            optimizer.zero_grad()
            loss = forward(inputs.to(device)).square().mean()
            loss.backward()
            step()
            losses.append(loss.item())
        assert compiles == (launched > before), f"{launched - before} generated kernels ran"
        assert losses[-1] < losses[0], losses
        outcomes.append([losses, [one.detach().cpu() for one in model.state_dict().values()]])
    for other in outcomes[1:]:
        torch.testing.assert_close(outcomes[0], other, atol=1e-4, rtol=1e-3)


def main() -> None:
    count_launches()
    with os.fdopen(int(sys.argv[1]), "w") as results:
        for name in map(str.strip, sys.stdin):
            torch.compiler.reset()
            torch.manual_seed(zlib.crc32(name.encode()))
            error, begin = None, time.process_time()
            try:
                run_case(cases.CASES[name]) if name in cases.CASES else run_training(models.TRAININGS[name])
            except Exception:
                error = traceback.format_exc()
            print(json.dumps({"name": name, "error": error, "seconds": time.process_time() - begin}), file=results, flush=True)


if __name__ == "__main__":
    main()
