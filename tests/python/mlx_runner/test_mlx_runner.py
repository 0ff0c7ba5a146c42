"""python -m metalloid.mlx: MLX scripts as people write them for a Mac."""

import os
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("mlx.core")

SQUARE = """
import mlx.core as mx
kernel = mx.fast.metal_kernel(
    name="square", input_names=["x"], output_names=["y"],
    source="uint i = thread_position_in_grid.x; y[i] = x[i] * x[i];")
def square(x):
    return kernel(inputs=[x], grid=(x.size, 1, 1), threadgroup=(256, 1, 1), output_shapes=[x.shape],
                  output_dtypes=[x.dtype], stream=mx.gpu)[0]
"""


def run(*arguments, environment=None):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=1200,
        env={**os.environ, **(environment or {})},
    )  # fmt: skip


def run_script(tmp_path, text, *arguments):
    script = tmp_path / "script.py"
    script.write_text(SQUARE + textwrap.dedent(text))
    result = run("-m", "metalloid.mlx", str(script), *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_script_sees_its_arguments_and_a_gpu(tmp_path):
    text = """
    import sys
    assert __name__ == "__main__" and mx.metal.is_available() and mx.is_available(mx.gpu)
    assert mx.default_device() == mx.gpu and mx.gpu == mx.default_device() and mx.default_device() != mx.cpu
    assert mx.device_info()["max_recommended_working_set_size"] > 0
    print(sys.argv[1:], square(mx.array([1.0, 2.0, 3.0])).tolist())
    """
    assert run_script(tmp_path, text, "--size", "3") == "['--size', '3'] [1.0, 4.0, 9.0]\n"


def test_gpu_and_cpu_differ_and_both_compute(tmp_path):
    run_script(
        tmp_path,
        """
        for device in (mx.gpu, mx.cpu, mx.Device(mx.gpu), mx.Device(mx.cpu), mx.new_stream(mx.gpu), mx.default_stream(mx.gpu)):
            assert mx.add(1, 2, stream=device).item() == 3
            with mx.stream(device):
                assert mx.add(1, 2).item() == 3
        with mx.stream(mx.cpu):
            assert mx.default_device() == mx.cpu and mx.default_device() != mx.gpu
            with mx.stream(mx.gpu):
                assert mx.default_device() == mx.gpu
            with mx.stream(mx.new_stream(mx.cpu)):
                assert mx.default_device() == mx.cpu
        assert mx.default_device() == mx.gpu and isinstance(mx.default_device(), mx.Device)
        assert mx.cpu != mx.gpu and not mx.cpu == mx.default_device() and mx.Device(mx.cpu) == mx.cpu
        assert str(mx.default_device()) == "Device(gpu, 0)" and str(mx.Device(mx.cpu)) == "Device(cpu, 0)"
        mx.set_default_device(mx.cpu)
        assert mx.default_device() == mx.cpu
        mx.set_default_device(mx.gpu)
        assert mx.default_device() == mx.gpu and mx.ones(3).sum().item() == 3
        """,
    )


def test_devices_in_configurations_and_streams_of_a_device(tmp_path):
    run_script(
        tmp_path,
        """
        import copy, gc, pickle
        gc.collect()
        for kind in (mx.gpu, mx.cpu):
            assert isinstance(kind, mx.DeviceType) and not isinstance(kind, mx.Device) and kind == mx.DeviceType[kind.name]
            assert copy.deepcopy({"device": kind}) == {"device": kind} and pickle.loads(pickle.dumps(kind)) == kind
            assert mx.DeviceType(kind.value) == kind and mx.Device(kind).type == kind and kind in list(mx.DeviceType)
            assert repr(kind) == f"DeviceType.{kind.name}" and repr(mx.Device(kind)) == f"Device({kind.name}, 0)"
            assert mx.new_stream(kind).device == mx.Device(kind) and repr(mx.Device(kind)) in repr(mx.new_stream(kind))
        assert mx.add(1, 2, stream=mx.DeviceType.gpu).item() == 3 and {mx.gpu: 1}[mx.default_device()] == 1
        stream = mx.new_stream(mx.default_device())
        assert stream.device == mx.gpu and mx.default_stream(mx.default_device()).device == mx.default_device()
        with mx.stream(stream):
            assert mx.default_device() == mx.gpu and square(mx.ones(3)).sum().item() == 3
        """,
    )


def test_products_that_mlx_has_for_float32_only_on_the_cpu(tmp_path):
    run_script(
        tmp_path,
        """
        masks = [mx.array([True, False, True]).reshape(3, 1, 1)] * 3
        places = mx.array([2, 0])
        for dtype in (mx.float16, mx.bfloat16, mx.float32):
            a = mx.random.normal((3, 32, 32)).astype(dtype)
            y = mx.gather_mm(a, a, places, rhs_indices=places, stream=mx.gpu)
            expected = (a.astype(mx.float32) @ a.astype(mx.float32)).astype(dtype)
            assert y.dtype == dtype and mx.allclose(y, expected[places], rtol=1e-2, atol=1e-2)
            y = mx.block_masked_mm(a, a, 32, *masks)
            assert y.dtype == dtype and mx.allclose(y, expected * masks[0], rtol=1e-2, atol=1e-2)
            gradient = mx.compile(mx.grad(lambda a: mx.gather_mm(a, a, places, places).sum()))(a)
            assert gradient.dtype == dtype and not gradient[1].any() and gradient[0].any()
        """,
    )


def test_exported_functions_are_imported_unless_they_have_kernels(tmp_path):
    run_script(
        tmp_path,
        """
        import os, tempfile
        with tempfile.TemporaryDirectory() as folder:
            plain, with_kernel = os.path.join(folder, "plain.mlxfn"), os.path.join(folder, "kernel.mlxfn")
            mx.export_function(plain, lambda x: mx.exp(x), mx.zeros(3))
            mx.export_function(with_kernel, lambda x: square(x), mx.zeros(3))
            assert mx.import_function(plain)(mx.zeros(3))[0].tolist() == [1, 1, 1]
            try:
                mx.import_function(with_kernel)
                assert False
            except RuntimeError as error:
                assert "kernel.mlxfn has Metal kernels in it" in str(error)
            try:
                mx.import_function(os.path.join(folder, "missing.mlxfn"))
                assert False
            except RuntimeError as error:
                assert "missing.mlxfn" in str(error)
        """,
    )


def test_compile_and_gradients(tmp_path):
    run_script(
        tmp_path,
        """
        from functools import partial
        x = mx.array([1.0, 2.0, 3.0])

        @mx.custom_function
        def differentiable(x):
            return square(x)

        @differentiable.vjp
        def _(x, cotangent, output):
            return 2 * x * cotangent

        @mx.compile
        def loss(x):
            return mx.exp(-differentiable(x)).sum()

        @mx.compile
        def shifted(x):
            return square(x) + 1

        @partial(mx.compile, shapeless=True)
        def without_shapes(x):
            return square(x)

        expected = -2 * x * mx.exp(-x * x)
        assert mx.allclose(mx.grad(loss)(x), expected)
        assert mx.allclose(mx.compile(mx.value_and_grad(loss))(x)[1], expected)
        assert shifted(x).tolist() == [2, 5, 10] and shifted(x[:2]).tolist() == [2, 5]
        try:
            without_shapes(x)
        except ValueError as error:
            assert "CustomKernel cannot infer output shapes" in str(error)
        else:
            assert False, "MLX cannot do this on a Mac either"
        """,
    )


def test_neural_network_with_a_kernel_learns(tmp_path):
    run_script(
        tmp_path,
        """
        import mlx.nn as nn, mlx.optimizers as optim

        @mx.custom_function
        def activation(x):
            return square(x)

        @activation.vjp
        def _(x, cotangent, output):
            return 2 * x * cotangent

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = nn.Linear(2, 16), nn.Linear(16, 1)

            def __call__(self, x):
                return self.second(activation(self.first(x)))

        mx.random.seed(1)
        model, optimizer = Model(), optim.Adam(learning_rate=0.02)
        x = mx.random.normal((64, 2))
        y = x[:, :1] * x[:, 1:]
        loss_and_gradient = nn.value_and_grad(model, lambda x, y: ((model(x) - y) ** 2).mean())
        losses = []
        for _ in range(150):
            loss, gradient = loss_and_gradient(x, y)
            optimizer.update(model, gradient)
            mx.eval(model.parameters(), optimizer.state)
            losses.append(loss.item())
        assert losses[-1] < losses[0] / 20, (losses[0], losses[-1])
        """,
    )


def test_threads_have_devices_of_their_own(tmp_path):
    text = """
    import threading
    seen = {}
    def work(number):
        assert mx.default_device() == mx.gpu
        with mx.stream(mx.cpu if number % 2 else mx.gpu):
            for _ in range(20):
                x = mx.full((50,), float(number))
                assert mx.compile(lambda x: square(x) + 1)(x).sum().item() == 50 * (number**2 + 1)
            seen[number] = mx.default_device().type.name
    mx.set_default_device(mx.cpu)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert mx.default_device() == mx.cpu
    print([seen[number] for number in range(4)])
    """
    assert run_script(tmp_path, text) == "['gpu', 'cpu', 'gpu', 'cpu']\n"


def test_child_processes_do_the_same(tmp_path):
    text = """
    import multiprocessing, subprocess, sys
    def child(queue):
        queue.put((mx.metal.is_available(), square(mx.array([4.0])).tolist()))
    if __name__ == "__main__":
        context = multiprocessing.get_context("spawn")
        queue = context.Queue()
        process = context.Process(target=child, args=(queue,))
        process.start()
        print(queue.get(timeout=1200), flush=True)
        process.join()
        code = "import sys; print('mlx.core' in sys.modules); import mlx.core as mx; print(mx.metal.is_available())"
        subprocess.run([sys.executable, "-c", code], check=True)
    """
    assert run_script(tmp_path, text).split("\n") == ["(True, [16.0])", "False", "True", ""]


def test_a_sitecustomize_of_the_user_still_runs(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import os; os.environ['SEEN'] = 'yes'")
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import os; print(os.environ[\"SEEN\"])'])"
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    result = run("-m", "metalloid.mlx", "-c", f"import os; os.environ.pop('SEEN', None); {code}", environment={"PYTHONPATH": path})
    assert result.stdout == "yes\n", result.stderr


def test_module_and_code(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__main__.py").write_text(SQUARE + "import sys; print(sys.argv[1:], square(mx.array([3.0])).item())")
    result = subprocess.run(
        [sys.executable, "-m", "metalloid.mlx", "-m", "package", "a"], capture_output=True, text=True, cwd=tmp_path
    )
    assert result.stdout == "['a'] 9.0\n", result.stderr
    result = run("-m", "metalloid.mlx", "-c", SQUARE + "print(__name__, square(mx.array([5.0])).item())", "b")
    assert result.stdout == "__main__ 25.0\n", result.stderr


def test_an_mlx_with_a_gpu_of_its_own_stays_as_it_is(tmp_path):
    (tmp_path / "mlx").mkdir()
    (tmp_path / "mlx/core.py").write_text(textwrap.dedent("""
        from types import SimpleNamespace
        array = list
        fast = SimpleNamespace(metal_kernel="its own")
        metal = SimpleNamespace(is_available=lambda: True)
        """))  # fmt: skip
    result = run("-m", "metalloid.mlx", "-c", "import mlx.core as mx; print(mx.fast.metal_kernel, vars(mx.metal).keys())",
                 environment={"PYTHONPATH": str(tmp_path)})  # fmt: skip
    assert (result.returncode, result.stdout) == (0, "its own dict_keys(['is_available'])\n"), result.stderr


def test_without_the_runner_nothing_changes():
    code = "import mlx.core as mx, metalloid, metalloid.mlx; assert not mx.metal.is_available(); print(mx.default_device())"
    assert run("-c", code).stdout == "Device(cpu, 0)\n"


def test_usage_and_failures(tmp_path):
    assert run("-m", "metalloid.mlx").returncode == 2
    assert "usage:" in run("-m", "metalloid.mlx", "--help").stdout
    wrong = run("-m", "metalloid.mlx", "--fast")
    assert wrong.returncode == 2 and "--fast" in wrong.stderr
    assert run("-m", "metalloid.mlx", "-c", "import sys; sys.exit(7)").returncode == 7
    failing = run("-m", "metalloid.mlx", "-c", SQUARE.replace("y[i] =", "z[i] =") + "mx.eval(square(mx.array([1.0])))")
    assert failing.returncode == 1 and "undeclared identifier 'z'" in failing.stderr
