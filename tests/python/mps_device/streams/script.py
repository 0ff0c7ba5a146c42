"""What holds of work on "mps" on every device that runs it: run under ``python -m metalloid.mps``, with one of them in
$METALLOID_DEVICE. Prints what failed, by name, as JSON."""

import gc
import json
import os
import sys
import threading
import time
import traceback

import torch

import metalloid

IS_LATE = os.environ["METALLOID_DEVICE"] != "cpu"  # kernels are done some time after their call
tests = {}

library = torch.mps.compile_shader("""
// Long enough for the host to go on meanwhile.
kernel void slow(device float* out, device const float* in, constant long& turns, uint i [[thread_position_in_grid]]) {
  float waste = 0;
  for (long t = 0; t < turns; ++t) waste = metal::fma(waste, 0.5f, in[i] * 0);
  out[i] = in[i] * 2 + waste;
}
kernel void astray(device float* out, uint i [[thread_position_in_grid]]) { out[i + 100000000] = 1; }
""")
TURNS = 3_000_000


def test(function):
    tests[function.__name__] = function
    return function


def slowly_doubled(x):
    out = torch.empty_like(x)
    library.slow(out, x, TURNS)
    return out


@test
def work_is_in_order():
    x = torch.arange(1000.0, device="mps")
    expected = torch.arange(1000.0)
    for turn in range(20):
        x = (x + turn) * 1.5 - x.mean()
        expected = (expected + turn) * 1.5 - expected.mean()
    torch.testing.assert_close(x.cpu(), expected, rtol=1e-4, atol=0.1)


@test
def calls_return_early_where_kernels_are_late():
    x = torch.ones(4, device="mps")
    torch.mps.synchronize()
    y = slowly_doubled(x)
    stream = torch.mps.current_stream()
    assert stream.query() != IS_LATE
    torch.mps.synchronize()
    assert stream.query() and y.tolist() == [2] * 4


@test
def errors_are_raised_where_somebody_waits():
    for wait in (torch.mps.synchronize, lambda: x[0].item(), lambda: x.cpu(), lambda: torch.mps.current_stream().synchronize()):
        x = torch.ones(4, device="mps")
        torch.mps.synchronize()
        try:
            library.astray(x)
            assert IS_LATE, "the call raises"
            wait()
        except torch.AcceleratorError as error:
            assert "astray" in str(error), error
        except RuntimeError as error:
            assert not IS_LATE and "astray" in str(error), error
        else:
            raise AssertionError("no error")
        torch.mps.synchronize()
        assert x.tolist() == [1] * 4


@test
def events_are_reached_when_the_work_before_them_is_done():
    for make in (lambda: torch.mps.Event(enable_timing=True), lambda: torch.Event("mps", enable_timing=True)):
        x = torch.ones(4, device="mps")
        torch.mps.synchronize()
        before, after = make(), make()
        before.record()
        slowly_doubled(x)
        after.record()
        assert after.query() != IS_LATE
        after.synchronize()
        assert before.query() and after.query()
        assert 1 < before.elapsed_time(after) < 100_000, before.elapsed_time(after)


@test
def streams_wait_for_events_of_others():
    one, other = torch.mps.Stream(), torch.mps.Stream()
    x = torch.ones(4, device="mps")
    torch.mps.synchronize()
    with one:
        y = slowly_doubled(x)
    event = one.record_event()
    other.wait_event(event)
    with other:
        z = y + 1
    other.synchronize()
    assert event.query() and z.tolist() == [3] * 4
    one.synchronize()  # the event is reached a moment before its stream has nothing more to do
    assert one.query()


@test
def memory_is_not_given_away_while_kernels_use_it():
    results = []
    for turn in range(5):
        x = torch.full((50_000,), float(turn), device="mps")
        out = torch.empty_like(x)
        library.slow(out, x, TURNS // 10_000)
        results.append(out)
        del x, out
        gc.collect()
        junk = [torch.empty(50_000, device="mps").fill_(-1) for _ in range(3)]
        host = [torch.full((50_000,), -1.0) for _ in range(3)]
        del junk, host
    for turn, result in enumerate(results):
        assert result.eq(2.0 * turn).all(), turn


@test
def the_host_writes_behind_kernels_that_read():
    x = torch.ones(4, device="mps")
    y = slowly_doubled(x)
    x.copy_(torch.full((4,), 7.0))
    x[1] = 9
    assert y.tolist() == [2] * 4 and x.tolist() == [7, 9, 7, 7]
    y = slowly_doubled(x)
    x.untyped_storage().fill_(0)
    assert y.tolist() == [14, 18, 14, 14] and x.tolist() == [0] * 4


@test
def operators_of_the_cpu_wait():
    x = torch.tensor([[2.0, 0.0], [0.0, 3.0]], device="mps")
    y = slowly_doubled(x)
    assert torch.linalg.eigvals(y).real.sort().values.tolist() == [4, 6]
    y = slowly_doubled(x.flatten())
    y.resize_(8)
    assert y[:4].tolist() == [4, 0, 0, 6]


@test
def kernels_of_both_libraries_are_in_order():
    source = "kernel void add(device float* x, constant long& n, uint i [[thread_position_in_grid]]) { x[i] += n; }"
    ours = metalloid.compile_shader(source)
    theirs = torch.mps.compile_shader(source)
    x = torch.zeros(4, device="mps")
    for turn in range(1, 6):
        ours.add(x, turn)
        x.mul_(2)
        theirs.add(x, turn)
        x.mul_(3)
    expected = 0
    for turn in range(1, 6):
        expected = ((expected + turn) * 2 + turn) * 3
    assert x.tolist() == [expected] * 4


@test
def arrays_and_tensors_in_one_call():
    import numpy as np

    add = metalloid.compile_shader(
        "kernel void add(device float* x, device const float* y, uint i [[thread_position_in_grid]]) { x[i] += y[i]; }"
    ).add
    x = torch.zeros(4, device="mps")
    for turn in range(5):
        add(x, np.full(4, turn, np.float32))
    assert x.tolist() == [10] * 4


@test
def addresses_in_a_table():
    source = """
        struct Table { metal::array<device float*, 2> x; };
        kernel void add(device float* sum, constant Table& table, uint i [[thread_position_in_grid]]) {
          sum[i] = table.x[0][i] + table.x[1][i];
          table.x[1][i] = -1;
        }
    """
    for compile_shader in (metalloid.compile_shader, torch.mps.compile_shader):
        add = compile_shader(source).add
        x, y, sums = torch.arange(8, device="mps") + 0.5, torch.ones(8, device="mps"), torch.zeros(4, device="mps")
        for _ in range(3):
            y.fill_(1)
            add(sums, [x[2:6], y[4:]])
            x += sums.sum()  # the next turn's table leads to what this one made
        assert y.tolist() == [1] * 4 + [-1] * 4
        first = torch.arange(8) + 0.5
        for _ in range(3):
            expected = first[2:6] + 1
            first += expected.sum()
        assert sums.tolist() == expected.tolist() and x.tolist() == first.tolist()


@test
def tensors_as_indices():
    x = torch.arange(24.0).reshape(4, 6)
    rows, columns = torch.tensor([3, 0, -1]), torch.tensor([[5], [2]])
    device_x = x.to("mps")
    assert torch.equal(device_x[rows.to("mps"), columns.to("mps")].cpu(), x[rows, columns])
    for accumulate in (False, True):
        x.index_put_((rows, columns), torch.tensor(2.0), accumulate=accumulate)
        device_x.index_put_((rows.to("mps"), columns.to("mps")), torch.tensor(2.0, device="mps"), accumulate=accumulate)
        if accumulate:
            assert torch.equal(device_x.cpu(), x)
    try:
        device_x[torch.tensor([4], device="mps")].cpu()
    except Exception as error:
        assert "out of" in str(error), error
    else:
        raise AssertionError("an index outside is an error")


@test
def threads_have_streams_of_their_own():
    failures = []

    def work(number):
        try:
            stream = torch.mps.Stream()
            with stream:
                x = torch.full((100,), float(number), device="mps")
                for _ in range(20):
                    x = x + 1
                    x = x * 1
                if x.tolist() != [number + 20.0] * 100:
                    failures.append(number)
        except Exception:
            failures.append(traceback.format_exc())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


failed = {}
for name in sys.argv[1:] or tests:
    begin = time.monotonic()
    try:
        tests[name]()
    except Exception:
        failed[name] = traceback.format_exc()
    print(f"{name}: {time.monotonic() - begin:.1f} s", file=sys.stderr)
print(json.dumps(failed))
