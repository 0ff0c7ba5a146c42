"""OpInfo's samples of an operator for one type, on the device mps beside the CPU.

As a program it takes jobs, a line of JSON each, from standard input and writes what it saw to standard output, a line each:
whoever started it (test_operators.py, test_opinfo_sample.py) survives a crash.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import json
import os
import re
import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any

import operator_layouts
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import metalloid
from metalloid.aten import comparison, opinfo
from metalloid.mps import _plugin, backend
from metalloid.mps._plugin import known_operators

INTO_RESULTS = 4  # so many samples also in place, and into results of the caller's
ARRANGED = 4  # so many samples also in other layouts, if they have a matrix
SEARCHED = 12  # so many samples are looked through for those
COUNTED = 20  # so many samples are also run to see which overloads launch kernels
FLOAT32_RELATIVE = 1.3e-6  # the least relative tolerance, as torch.testing has it
PROBLEMS = 4  # kept of each test
_WRITTEN = "more than one element of the written-to tensor"  # of running statistics for instance
_no_float64 = re.compile(r"MPS framework doesn't support (float64|complex128)|MPS device does not support (Double|ComplexDouble)")


@dataclasses.dataclass
class Seen:
    """Of an operator and a type.

    Attributes:
        calls: samples with elements to compute; of them ...
        metal: ... launched Metal kernels and left nothing to the CPU,
        mixed: ... did both,
        fallen: ... ran on the CPU alone. The rest are views and the like.
        compared, right: by test, "output", "gradient", "out=", "in place", "layout" (each of these but gradients, with
            tensors in other layouts), "layout gradient", "errors"; "check": what the checker says.
        problems: the first ones, by test.
        overloads: of Metalloid's registrations: calls with elements, and those that launched kernels.
        fallbacks: the operators that ran on the CPU.
        refused: calls that ask for float64, which MPS does not have.
        is_random: it draws numbers, which are not compared.
    """

    calls: int = 0
    metal: int = 0
    mixed: int = 0
    fallen: int = 0
    compared: dict[str, int] = dataclasses.field(default_factory=dict)
    right: dict[str, int] = dataclasses.field(default_factory=dict)
    problems: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    overloads: dict[str, list[int]] = dataclasses.field(default_factory=dict)
    fallbacks: dict[str, int] = dataclasses.field(default_factory=dict)
    refused: int = 0
    is_random: bool = False

    def count(self, test: str, problem: str | None) -> None:
        self.compared[test] = self.compared.get(test, 0) + 1
        self.right[test] = self.right.get(test, 0) + (problem is None)
        if problem is not None and len(said := self.problems.setdefault(test, [])) < PROBLEMS:
            said.append(problem)


class Session:
    """The device of this process, with its operators."""

    def __init__(self) -> None:
        self.device = _plugin.device()
        of_device = set(torch._C._dispatch_get_registrations_for_dispatch_key("MPS"))
        _plugin.own_operators()
        self.own = set(torch._C._dispatch_get_registrations_for_dispatch_key("MPS")) - of_device
        backend.install(self.device)
        self.device.set_operators_of_pytorch(known_operators.operators_of_pytorch())
        self.infos = opinfo.all_infos()
        self.watch = comparison.Watch()

    def run(
        self, info: Any, dtype: torch.dtype, limit: int, seconds: float, layouts: Sequence[str] = operator_layouts.NAMES
    ) -> Seen:  # fmt: skip
        """All samples, or ``limit``, or as many as there is time for; some of them in these layouts, too."""
        seen = Seen()
        until = time.monotonic() + seconds
        differentiates = dtype is torch.float32 and dtype in info.supported_backward_dtypes("cpu")
        tolerance = opinfo.expectation(info, "test_output_match", dtype).tolerance
        torch.manual_seed(0)
        to_arrange = 1 if limit else ARRANGED
        first = None
        for number, sample in enumerate(info.sample_inputs("cpu", dtype, requires_grad=differentiates, set_seed=True)):
            is_of_limit = not limit or number < limit
            if time.monotonic() > until or not (is_of_limit or (to_arrange and number < SEARCHED)):
                break
            one = One(self, info, dtype, sample, f"sample {number}", number, tolerance, seen)
            if is_of_limit:
                one.run(differentiates)
            if number < INTO_RESULTS and (not limit or number == 0):
                one.run_in_place()
                one.run_out()
            first = first or (number, sample)
            if to_arrange and any(tensor.dim() > 1 and tensor.numel() > 1 for tensor in comparison.tensors(_inputs(sample))):
                to_arrange -= 1
                self._run_arranged(layouts, info, dtype, sample, number, tolerance, seen, differentiates, until)
        if first and to_arrange == (1 if limit else ARRANGED):
            self._run_arranged(layouts, info, dtype, first[1], first[0], tolerance, seen, differentiates, until)
        return seen

    def _run_arranged(
        self, layouts: Sequence[str], info: Any, dtype: torch.dtype, sample: Any, number: int,
        tolerance: comparison.Tolerance, seen: Seen, differentiates: bool, until: float,
    ) -> None:  # fmt: skip
        for layout in layouts:
            if time.monotonic() > until:
                return
            with contextlib.suppress(RuntimeError):  # a type that cannot be arranged on the CPU
                if (other := operator_layouts.arranged_sample(sample, layout)) is not None:
                    one = One(self, info, dtype, other, f"sample {number}, {layout}", COUNTED, tolerance, seen, layout)
                    one.run(differentiates)
                    if layout != operator_layouts.EXPANDED:  # elements that are written lie apart
                        one.run_in_place()
                        one.run_out()

    def errors(self, info: Any) -> Seen:
        seen = Seen()
        with _Overloads(self, seen):
            for number, problem in comparison.error_inputs(info):
                seen.count("errors", f"error input {number} {problem}" if problem else None)
        return seen


class _Overloads(TorchDispatchMode):
    """Counts by overload what reaches the device."""

    def __init__(self, session: Session, seen: Seen) -> None:
        super().__init__()
        self._session, self._seen = session, seen
        self.is_random = False

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = function.name()
        self.is_random = self.is_random or torch.Tag.nondeterministic_seeded in function.tags
        before = self._session.device.launches()
        result = function(*args, **(kwargs or {}))
        if name in self._session.own:
            launched = self._session.device.launches() > before
            if launched or any(one.is_mps and one.numel() > 0 for one in comparison.tensors(result)):
                counts = self._seen.overloads.setdefault(name, [0, 0])
                counts[0] += 1
                counts[1] += launched
        return result


class One:
    """One sample."""

    def __init__(
        self, session: Session, info: Any, dtype: torch.dtype, sample: Any, label: str,
        number: int, tolerance: comparison.Tolerance, seen: Seen, layout: str | None = None,
    ) -> None:  # fmt: skip
        self.layout = layout
        self.session, self.info, self.dtype, self.sample = session, info, dtype, sample
        self.label, self.tolerance, self.seen = label, tolerance, seen
        self.here = _inputs(sample)
        # Empty tensors have any elements.
        self.values = "empty" not in info.name
        self.is_counted = number < COUNTED
        self.may_widen = dtype not in info.supported_dtypes("cpu")

    def run(self, differentiates: bool) -> None:
        def call(inputs: Any) -> Any:
            return self.info.op(inputs[0], *inputs[1], **inputs[2])

        if (both := self._on_both("output", call, can_widen=True)) is None:
            return
        actual, expected, there, is_cpus_type = both
        if not differentiates or not is_cpus_type:
            return
        try:
            # What the derivatives are defined for, of decompositions for instance.
            actual, expected = (self.sample.output_process_fn_grad(one) for one in (actual, expected))
            found = comparison.gradients(actual, expected, there, self.here, self._seed)
            if found is not None and self.is_counted:
                with contextlib.suppress(Exception), _Overloads(self.session, self.seen):
                    comparison.gradients(actual, expected, there, self.here)
            if found is not None:
                # Lists of tolerances are for outputs, and some are absolute alone.
                tolerance = self.tolerance and (self.tolerance[0], max(self.tolerance[1], FLOAT32_RELATIVE))
                comparison.compare(*found, tolerance, True, self.values and not self.seen.is_random)
                self.seen.count(self._counted_as("gradient"), None)
        except Exception as error:  # whatever an operator raises
            self._count_error("gradient", error)

    def run_in_place(self) -> None:
        variant = self.info.inplace_variant
        if variant is None or not isinstance(self.sample.input, torch.Tensor) or self.sample.broadcasts_input:
            return

        def call(inputs: Any) -> Any:
            with torch.no_grad():
                return variant(inputs[0], *inputs[1], **inputs[2])

        self.here = copy.deepcopy(self._detached(self.here))
        self._on_both("in place", call)

    def run_out(self) -> None:
        if not self.info.supports_out:
            return
        with torch.no_grad():
            try:
                like = self.info.op(self.sample.input, *self.sample.args, **self.sample.kwargs)
            except comparison.NOT_ON_CPU:
                return
        many = not isinstance(like, torch.Tensor)
        if many and not (isinstance(like, tuple | list) and all(isinstance(one, torch.Tensor) for one in like)):
            return

        def call(inputs: Any) -> Any:
            device = "cpu" if inputs is self.here else "mps"
            out = [self._empty_like(one, device) for one in comparison.tensors(like)]
            with torch.no_grad():
                return self.info.op(inputs[0], *inputs[1], **inputs[2], out=tuple(out) if many else out[0])

        self.here = self._detached(self.here)
        self._on_both("out=", call)

    def _count_error(self, test: str, error: Exception) -> None:
        if _no_float64.search(str(error)):
            self.seen.refused += 1
        elif self.layout != operator_layouts.EXPANDED or _WRITTEN not in str(error):
            self.seen.count(self._counted_as(test), f"{self.label}: {comparison.first_lines(error)}")

    def _counted_as(self, test: str) -> str:
        if self.layout is None:
            return test
        return "layout gradient" if test == "gradient" else "layout"

    def _seed(self, seed: torch.Tensor) -> torch.Tensor:
        return operator_layouts.arranged_seed(seed, self.layout) if self.layout else seed

    def _empty_like(self, like: torch.Tensor, device: str) -> torch.Tensor:
        empty = torch.empty_strided(like.size(), like.stride(), dtype=like.dtype)
        if self.layout and (other := operator_layouts.arranged(empty.zero_(), self.layout)) is not None:
            empty = other
        return comparison.on_mps(empty) if device == "mps" else empty

    def _detached(self, value: Any) -> Any:
        return torch.utils._pytree.tree_map(lambda leaf: leaf.detach() if isinstance(leaf, torch.Tensor) else leaf, value)

    def _count_overloads(self, call: Any) -> None:
        """A call of its own: some of PyTorch's operators are wrong under a dispatch mode, also on the CPU."""
        if not self.is_counted:
            return
        overloads = _Overloads(self.session, self.seen)
        there = comparison.moved(self.here)
        with contextlib.suppress(Exception), overloads:
            call(there)
        self.seen.is_random = self.seen.is_random or overloads.is_random

    def _is_that_of_dense_tensors(self, call: Any, actual: Any, is_cpus_type: bool) -> bool:
        """Whether a result is what the CPU computes of contiguous tensors: in some layouts it is the CPU that is wrong."""
        layout, self.layout, here = self.layout, None, self.here
        if layout is None:
            return False
        try:
            self.here = torch.utils._pytree.tree_map(operator_layouts.dense, _inputs(self.sample))
            expected, _ = comparison.on_cpu(call, self.here, self.dtype, False)
            comparison.compare(actual, expected, self.tolerance, is_cpus_type)
        except Exception:  # whatever an operator raises
            return False
        finally:
            self.layout, self.here = layout, here
        return True

    def _on_both(self, test: str, call: Any, can_widen: bool = False) -> tuple[Any, Any, Any, bool] | None:
        there = comparison.moved(self.here)
        if test != "out=" and not _is_of_device(there):
            return None
        try:
            expected, is_cpus_type = comparison.on_cpu(call, self.here, self.dtype, self.may_widen and can_widen)
        except (*comparison.NOT_ON_CPU, ValueError, NotImplementedError):
            return None
        seen = self.seen
        self._count_overloads(call)
        try:
            actual, launches, fallbacks = self.session.watch.during(lambda: call(there))
        except Exception as error:  # whatever an operator raises
            self._count_error(test, error)
            return None
        if any(one.numel() > 0 for one in comparison.tensors(expected)) or launches or fallbacks:
            seen.calls += 1
            seen.metal += launches > 0 and not fallbacks
            seen.mixed += launches > 0 and bool(fallbacks)
            seen.fallen += launches == 0 and bool(fallbacks)
        for name in fallbacks:
            seen.fallbacks[name] = seen.fallbacks.get(name, 0) + 1
        try:
            if not comparison.choices_agree(actual, expected, self.here[0], self.tolerance):
                comparison.compare(actual, expected, self.tolerance, is_cpus_type, self.values and not seen.is_random)
        except Exception as error:  # as above
            exact = isinstance(error, AssertionError) and comparison.is_as_exact(call, self.here, actual, expected)
            if not exact and not self._is_that_of_dense_tensors(call, actual, is_cpus_type):
                seen.count(self._counted_as(test), f"{self.label}: {comparison.first_lines(error)}")
                return None
        seen.count(self._counted_as(test), None)
        return actual, expected, there, is_cpus_type


def _inputs(sample: Any) -> tuple[Any, Any, Any]:
    return sample.input, sample.args, sample.kwargs


def _is_of_device(inputs: Any) -> bool:
    """Whether a call with these is one of MPS: some of those that make tensors have no device, or no tensor."""
    leaves = torch.utils._pytree.tree_leaves(inputs)
    return comparison.is_on_mps(inputs) or any(leaf in ("mps", torch.device("mps")) for leaf in leaves if isinstance(leaf, str | torch.device))


def name_of(info: Any) -> str:
    return f"{info.name}.{info.variant_test_name}" if info.variant_test_name else info.name


def dtypes_of(info: Any) -> list[str]:
    known = set(info.supported_dtypes("mps")) | set(info.supported_dtypes("cpu"))
    return [str(dtype).removeprefix("torch.") for dtype in opinfo.DTYPES if dtype in known]


def main() -> None:
    results = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # operators print
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    session = Session()
    names = [name_of(info) for info in session.infos]
    started = {"operators": {name: dtypes_of(info) for name, info in zip(names, session.infos, strict=True)}}
    own, of_pytorch = sorted(session.own), sorted(known_operators.operators_of_pytorch())
    print(json.dumps({**started, "own": own, "of_pytorch": of_pytorch, "torch": torch.__version__}), file=results)
    for line in sys.stdin:
        job = json.loads(line)
        info = session.infos[names.index(job["op"])]
        begin = time.monotonic()
        try:
            with metalloid.check(raises=False) if job.get("check") else contextlib.nullcontext() as check:
                if job["dtype"] == "errors":
                    seen = session.errors(info)
                else:
                    layouts = job.get("layouts", operator_layouts.NAMES)
                    seen = session.run(info, getattr(torch, job["dtype"]), job["samples"], job["seconds"], layouts)
            if check:
                for finding in check.findings:
                    seen.count("check", str(finding) if finding.severity != "note" else None)
        except Exception as error:  # of the samples themselves
            seen = Seen()
            if _no_float64.search(str(error)):
                seen.refused += 1
            else:
                seen.count("samples", comparison.first_lines(error))
        seconds = round(time.monotonic() - begin, 2)
        print(json.dumps({"op": job["op"], "dtype": job["dtype"], "seconds": seconds, **dataclasses.asdict(seen)}), file=results)


if __name__ == "__main__":
    main()
