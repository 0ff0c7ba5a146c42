"""metal_kernel on mx.array: an operation of MLX's graph, and what happens where it cannot be one."""

import os
import subprocess
import sys
import threading

import pytest

mx = pytest.importorskip("mlx.core")

import metalloid.mlx  # noqa: E402
from metalloid.fast import metal_kernel  # noqa: E402


@pytest.fixture(autouse=True, params=["lazy", "eager"])
def evaluation(request):
    metalloid.mlx.set_evaluation(request.param)
    yield request.param
    metalloid.mlx.set_evaluation("lazy")


# A test about one of the two.
lazy, eager = (pytest.mark.parametrize("evaluation", [which], indirect=True) for which in ("lazy", "eager"))


def kernel(source, name="kernel", **options):
    return metal_kernel(name, ["x"], ["y"], f"uint i = thread_position_in_grid.x; {source}", **options)


def call(kernel, x, **options):
    options = dict(output_shapes=[x.shape], output_dtypes=[x.dtype], grid=(x.size, 1, 1), threadgroup=(64, 1, 1)) | options
    return kernel(inputs=[x], **options)[0]


SQUARE = kernel("y[i] = x[i] * x[i];")
SLOW = kernel("float a = x[i]; for (int n = 0; n < 20000; n++) a = a * 1.0001f + 1e-9f; y[i] = a;")
CRASH = kernel("y[i + (1ul << 44)] = x[i];", name="crash")
WRONG = kernel("z[i] = 1;")


def test_values_of_a_graph():
    x = mx.arange(1000).astype(mx.float32)
    y = mx.exp(call(SQUARE, x / 1000) - 1)
    assert mx.allclose(y, mx.exp((x / 1000) ** 2 - 1))
    assert mx.array_equal(call(SQUARE, call(SQUARE, x)), (x * x) * (x * x))


def test_views_and_empty_arrays():
    x = mx.arange(24).reshape(4, 6)
    for view in (x.T, x[::2], x[:, 1:4], x[1], mx.broadcast_to(x[:1], (3, 6)), x[:0], x[::-1, ::-1]):
        assert mx.array_equal(call(SQUARE, view), view * view), view.shape


def test_outputs_start_from_zero_or_init_value():
    nothing = kernel("")
    assert call(nothing, mx.ones(2000)).tolist() == [0] * 2000
    assert call(nothing, mx.ones(3), init_value=2.5).tolist() == [2.5] * 3


def test_several_outputs_of_which_one_is_kept():
    two = metal_kernel("two", ["x"], ["a", "b"], "uint i = thread_position_in_grid.x; a[i] = x[i]; b[i] = x[i] + 1;")
    launch = dict(grid=(3, 1, 1), threadgroup=(3, 1, 1), output_shapes=[(3,), (3,)], output_dtypes=[mx.float32, mx.int32])
    a, b = two(inputs=[mx.array([1.0, 2.0, 3.0])], **launch)
    assert a.tolist() == [1, 2, 3] and b.tolist() == [2, 3, 4] and b.dtype == mx.int32
    assert two(inputs=[mx.array([1.0, 2.0, 3.0])], **launch)[1].tolist() == [2, 3, 4]


def test_numbers_and_other_arrays_among_the_inputs():
    numpy = pytest.importorskip("numpy")
    add = metal_kernel("add", ["x", "n", "other"], ["y"], "uint i = thread_position_in_grid.x; y[i] = x[i] + n + other[i];")
    y = add(
        inputs=[mx.array([1.0, 2.0]), 3, numpy.array([10, 20], numpy.float32)], grid=(2, 1, 1), threadgroup=(2, 1, 1),
        output_shapes=[(2,)], output_dtypes=[mx.float32],
    )  # fmt: skip
    assert y[0].tolist() == [14, 25]


@lazy
def test_nothing_runs_before_it_is_asked_for():
    y = call(WRONG, mx.ones(3))
    assert y.shape == (3,)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="Unable to build metal library from source(.|\n)*identifier 'z'"):
            mx.eval(y)


def test_an_error_leaves_other_work_alone():
    x = mx.arange(100).astype(mx.float32)
    good = call(SQUARE, x)
    for bad in (WRONG, CRASH):
        with pytest.raises(RuntimeError):
            mx.eval(good, call(bad, x))
        assert mx.array_equal(good, x * x)
        assert mx.array_equal(call(SQUARE, x) + 1, x * x + 1)


def test_a_crash_is_an_error_of_whoever_waits():
    with pytest.raises(RuntimeError, match="crash"):
        (call(CRASH, mx.ones(10)) + 1).sum().item()
    with pytest.raises(RuntimeError, match="crash"):
        mx.async_eval(call(CRASH, mx.ones(10)))
        mx.synchronize()
    assert mx.ones(3).sum().item() == 3


def test_errors_of_the_launch():
    x = mx.ones(3)
    for options, message in [
        (dict(threadgroup=(2048, 1, 1)), "Thread group size"),
        (dict(grid=(-1, 1, 1)), "must not be negative"),
        (dict(grid=(0, 1, 1)), "`grid` is empty"),
        (dict(threadgroup=(0, 1, 1)), "`threadgroup` is empty"),
        (dict(output_dtypes=[mx.float64]), "float64 is not supported"),
    ]:
        with pytest.raises(ValueError, match=message):
            mx.eval(call(SQUARE, x, **options))
    with pytest.raises(ValueError, match="negative dimensions"):
        call(SQUARE, x, output_shapes=[(-3,)])
    two = metal_kernel("two", ["x", "n"], ["y"], "y[0] = x[0] + n;")
    with pytest.raises(TypeError, match="NoneType"):
        two(inputs=[x, None], grid=(1, 1, 1), threadgroup=(1, 1, 1), output_shapes=[(1,)], output_dtypes=[mx.float32])


@lazy
def test_more_memory_than_there_is():
    with pytest.raises(RuntimeError, match="Unable to allocate"):
        mx.eval(call(SQUARE, mx.ones(3), output_shapes=[(1 << 30, 1 << 15)]))


@lazy
def test_functions_are_compiled_around_kernels():
    traces = []

    @mx.compile
    def function(x):
        traces.append(x.shape)
        return mx.tanh(call(SQUARE, x * 2 + 1) * 0.5)

    for size in (3, 3, 5):
        x = mx.arange(size).astype(mx.float32)
        assert mx.allclose(function(x), mx.tanh((x * 2 + 1) ** 2 * 0.5))
    assert traces == [(3,), (5,)]


@eager
def test_compile_without_lazy_evaluation_says_what_to_do():
    with pytest.raises(RuntimeError, match="mx.disable_compile"):
        mx.compile(lambda x: call(SQUARE, x))(mx.ones(3))


def test_gradients_through_custom_function(evaluation):
    @mx.custom_function
    def square(x):
        return call(SQUARE, x)

    @square.vjp
    def _(x, cotangent, output):
        return 2 * x * cotangent

    x = mx.array([1.0, 2.0, 3.0])
    gradient = mx.value_and_grad(lambda x: mx.exp(-square(x)).sum())
    expected = -2 * x * mx.exp(-x * x)
    assert mx.allclose(gradient(x)[1], expected)
    if evaluation == "lazy":
        assert mx.allclose(mx.compile(gradient)(x)[1], expected)
    assert mx.allclose(mx.grad(lambda x: mx.checkpoint(square)(x).sum())(x), 2 * x)


@lazy
def test_verbose_in_a_trace(capsys):
    mx.compile(lambda x: call(SQUARE, x, verbose=True))(mx.ones(9))
    assert "const device float* x [[buffer(0)]]" in capsys.readouterr().out


def test_streams():
    first, second = mx.new_stream(mx.cpu), mx.new_stream(mx.cpu)
    for _ in range(20):
        y = call(SQUARE, call(SQUARE, mx.full((10,), 2.0), stream=first) + 1, stream=second)
        assert y.tolist() == [25] * 10
    with mx.stream(first):
        assert call(SQUARE, mx.full((10,), 3.0)).tolist() == [9] * 10


def test_threads():
    wrong = []

    def work(number):
        try:
            for _ in range(50):
                assert call(SQUARE, mx.full((100,), float(number))).sum().item() == 100 * number**2
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_arrays_that_nobody_waits_for():
    numpy = pytest.importorskip("numpy")
    for _ in range(30):
        x = mx.random.normal((500,))
        y = call(SLOW, x)
        mx.async_eval(y)
        del x, y
        later = [mx.array(numpy.full(500, 7, numpy.float32)) for _ in range(8)]
        assert all(bool((values == 7).all()) for values in later)
    mx.synchronize()


def test_export_is_the_same_as_mlx_makes(tmp_path):
    def function(x):
        return call(SQUARE, x) + 1

    mx.export_function(str(tmp_path / "function"), function, mx.ones(9))
    assert "custom_kernel_kernel_float_float" in (tmp_path / "function").read_bytes().decode("latin1")


# --- in processes of their own -----------------------------------------------------------------------------------

SCRIPT = """
import mlx.core as mx, metalloid.mlx
from metalloid.fast import metal_kernel
k = metal_kernel("k", ["x"], ["y"], "uint i = thread_position_in_grid.x; float a = x[i];"
                 "for (int n = 0; n < LOOPS; n++) a = a * 1.0001f; y[i] = a > 0.0f ? 2 : x[i];")
y = k(inputs=[mx.ones(64)], grid=(64, 1, 1), threadgroup=(64, 1, 1), output_shapes=[(64,)], output_dtypes=[mx.float32])[0]
"""


def run(code, loops=1, **environment):
    variables = {key: value for key, value in {**os.environ, **environment}.items() if value is not None}
    return subprocess.run(
        [sys.executable, "-c", SCRIPT.replace("LOOPS", str(loops)) + code],
        capture_output=True, text=True, timeout=1200, env=variables,
    )  # fmt: skip


SHOW = "print(metalloid.mlx.evaluation(), y.sum().item())"


@lazy
def test_the_extension_is_compiled_once(tmp_path):
    files = set()
    for _ in range(2):
        result = run(SHOW, METALLOID_CACHE_DIR=str(tmp_path), METALLOID_MLX_EVALUATION=None)
        assert (result.stdout, result.stderr) == ("lazy 128.0\n", "")
        (built,) = (tmp_path / "extensions").iterdir()
        files.add(built.stat().st_ino)
    assert len(files) == 1


@lazy
@pytest.mark.parametrize("harm", ["altered", "of another extension", "writable by others"])
def test_an_extension_that_cannot_be_trusted_is_compiled_again(tmp_path, harm):
    def show():
        result = run(SHOW, METALLOID_CACHE_DIR=str(tmp_path), METALLOID_MLX_EVALUATION="lazy")
        assert (result.stdout, result.stderr) == ("lazy 128.0\n", "")
        (built,) = (tmp_path / "extensions").iterdir()
        return built

    built = show()
    before, good = built.stat().st_ino, built.read_bytes()
    if harm == "writable by others":
        built.chmod(0o666)
    else:
        place = 8 if harm == "of another extension" else len(good) // 2
        built.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
    os.link(built, tmp_path / "old")  # the new file cannot get its inode
    again = show()
    assert again.stat().st_ino != before and again.read_bytes() == good and again.stat().st_mode & 0o022 == 0


@lazy
def test_the_extension_counts_for_the_bound_of_the_cache(tmp_path):
    write = "from metalloid import _core; _core.write_cached_extension(bytes([{}]), bytes(300000))"
    for number in range(8):
        variables = {**os.environ, "METALLOID_CACHE_DIR": str(tmp_path), "METALLOID_CACHE_SIZE": "1"}
        subprocess.run([sys.executable, "-c", write.format(number)], check=True, env=variables)
    sizes = [file.stat().st_size for file in (tmp_path / "extensions").iterdir()]
    assert 0 < sum(sizes) <= 1 << 20 and len(sizes) < 8


@lazy
def test_without_a_compiler_kernels_run_at_once_and_a_warning_says_so(tmp_path):
    missing = dict(METALLOID_CACHE_DIR=str(tmp_path), CXX="no-such-compiler")
    result = run(SHOW, METALLOID_MLX_EVALUATION=None, **missing)
    assert result.stdout == "eager 128.0\n", result.stderr
    assert "there is no C++ compiler (no-such-compiler)" in result.stderr and "RuntimeWarning" in result.stderr
    result = run(SHOW, METALLOID_MLX_EVALUATION="eager", **missing)
    assert (result.stdout, result.stderr) == ("eager 128.0\n", "")
    result = run(SHOW, METALLOID_MLX_EVALUATION="lazy", **missing)
    assert result.returncode == 1 and "no-such-compiler" in result.stderr
    result = run(SHOW, METALLOID_MLX_EVALUATION="sometimes", **missing)
    assert result.returncode == 1 and "'sometimes'" in result.stderr


@lazy
def test_headers_of_another_mlx_are_refused(tmp_path):
    from metalloid.fast._mlx.build import CannotBuild, build_extension

    with pytest.raises(CannotBuild, match="no headers"):
        build_extension(tmp_path, "0.0")
    (tmp_path / "include" / "mlx").mkdir(parents=True)
    (tmp_path / "include" / "mlx" / "primitives.h").touch()
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libmlx.so").touch()
    with pytest.raises(CannotBuild, match="it does not compile: .*mlx/allocator.h"):
        build_extension(tmp_path, "0.0")


@lazy
def test_a_cache_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()  # stops root, too
    result = run(SHOW, METALLOID_CACHE_DIR=str(tmp_path / "file"), METALLOID_MLX_EVALUATION="lazy")
    assert result.stdout == "lazy 128.0\n", result.stderr


@lazy
def test_without_a_disk_cache_the_process_has_its_own():
    result = run(SHOW, METALLOID_CACHE="0", METALLOID_MLX_EVALUATION="lazy")
    assert (result.stdout, result.stderr) == ("lazy 128.0\n", "")


@lazy
def test_processes_that_start_together(tmp_path):
    command = [sys.executable, "-c", SCRIPT.replace("LOOPS", "1") + SHOW]
    environment = {**os.environ, "METALLOID_CACHE_DIR": str(tmp_path)}
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) for _ in range(2)]
    assert [process.communicate(timeout=1200)[0] for process in started] == ["lazy 128.0\n"] * 2
    assert len(list((tmp_path / "extensions").iterdir())) == 1


def test_an_endless_kernel_is_stopped(evaluation):
    code = """
endless = metal_kernel("endless", ["x"], ["y"], "while (true) y[0] = x[0];")
try:
    mx.eval(endless(inputs=[mx.ones(1)], grid=(1, 1, 1), threadgroup=(1, 1, 1), output_shapes=[(1,)],
                    output_dtypes=[mx.float32])[0])
except RuntimeError as error:
    print("'endless'" in str(error).replace("custom_kernel_", "").replace("_floatc_float", ""), "timeout" in str(error))
print(y.sum().item())
"""
    result = run(code, METALLOID_TIMEOUT="1", METALLOID_MLX_EVALUATION=evaluation)
    assert result.stdout == "True True\n128.0\n", result.stderr


def test_accesses_outside_are_errors(evaluation):
    code = """
for source in ("y[i] = x[i - 1];", "y[i + 1] = x[i];"):
    kernel = metal_kernel("outside", ["x"], ["y"], "int i = thread_position_in_grid.x; " + source)
    try:
        (y,) = kernel(inputs=[mx.ones(3)], grid=(3, 1, 1), threadgroup=(3, 1, 1), output_shapes=[(3,)], output_dtypes=[mx.float32])
        print(y.tolist())
    except RuntimeError as error:
        print(str(error).partition(" at ")[0].partition("' ")[2])
"""
    result = run(code, METALLOID_MLX_EVALUATION=evaluation)
    assert result.stdout == (
        "reads outside of argument 'x' (buffer 0): element -1 of 3 (bytes -4 to -1 of 12)\n"
        "writes outside of argument 'y' (buffer 1): element 3 of 3 (bytes 12 to 15 of 12)\n"
    ), result.stderr


@lazy
def test_the_process_ends_after_its_kernels():
    for _ in range(3):
        result = run("mx.async_eval(y); print('end')", loops=3_000_000)
        assert (result.returncode, result.stdout, result.stderr) == (0, "end\n", "")


@lazy
def test_an_error_that_nobody_waited_for():
    code = """
crash = metal_kernel("crash", ["x"], ["y"], "y[1ul << 44] = x[0];")
z = crash(inputs=[mx.ones(1)], grid=(1, 1, 1), threadgroup=(1, 1, 1), output_shapes=[(1,)], output_dtypes=[mx.float32])
try:
    mx.async_eval(z)
except RuntimeError:
    pass  # if the kernel was quick
print("end")
"""
    result = run(code)
    assert (result.returncode, result.stdout) == (0, "end\n"), result.stderr
