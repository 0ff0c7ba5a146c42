// Eight threads that share four streams of "mps": operators, events, freed memory, copies, operators of the CPU,
// backward passes. Each has a tensor of its own whose value it knows. No Python in it, whose lock would order the
// threads.
#include <ATen/core/Tensor.h>
#include <ATen/ops/_linalg_eigvals.h>
#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/real.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <execinfo.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr unsigned thread_count = 8, stream_count = 4;
constexpr std::int64_t size = 257;  // elements

const c10::Device mps(c10::DeviceType::MPS, 0);

struct Soak {
  std::array<std::optional<c10::Stream>, stream_count> streams;
  std::chrono::steady_clock::time_point end;
  std::atomic<std::uint64_t> steps{0};
  std::mutex mutex;
  std::string failures;

  void fail(const std::string& why) {
    const std::lock_guard lock(mutex);
    failures += why + "\n";
  }
};

class Worker {
 public:
  Worker(Soak& soak, unsigned number) : soak_(soak), number_(number), random_(number) {}

  void run() {
    try {
      change_stream();
      reset();
      while (std::chrono::steady_clock::now() < soak_.end) {
        step();
        soak_.steps.fetch_add(1, std::memory_order_relaxed);
      }
      compare("at the end");
    } catch (const std::exception& error) {
      soak_.fail("thread " + std::to_string(number_) + ": " + error.what());
    }
  }

 private:
  unsigned up_to(unsigned count) { return std::uniform_int_distribution<unsigned>(0, count - 1)(random_); }

  // What the thread does on the new stream is behind what it did on the old one.
  void change_stream() {
    c10::Event behind(c10::DeviceType::MPS);
    behind.record(guard_.getStream(mps));
    const c10::Stream stream = *soak_.streams[up_to(stream_count)];
    behind.block(stream);
    guard_.exchangeStream(stream);
  }

  void reset() {
    value_ = static_cast<float>(number_);
    x_ = at::full({size}, value_, at::TensorOptions(mps));
  }

  void compare(const char* when) {
    const at::Tensor host = x_.cpu();
    const auto* elements = host.const_data_ptr<float>();
    for (std::int64_t i = 0; i < size; ++i) {
      if (elements[i] == value_) continue;
      soak_.fail("thread " + std::to_string(number_) + " has " + std::to_string(elements[i]) + " for " +
                 std::to_string(value_) + " " + when);
      return reset();
    }
  }

  void step() {
    switch (up_to(12)) {
      case 0: return change_stream();
      case 1:  // the old memory goes while kernels read it
        x_ = at::add(x_, 1);
        value_ += 1;
        return;
      case 2: {
        const at::Tensor other = at::full({size}, 2, at::TensorOptions(mps));
        x_.add_(other);
        value_ += 2;
        return;
      }
      case 3: {  // made on one stream, used on another, and let go at once
        const at::Tensor other = at::full({size}, 3, at::TensorOptions(mps));
        change_stream();
        x_ = at::add(x_, other);
        value_ += 3;
        return;
      }
      case 4: return compare("after a copy to the host");
      case 5:
        if (x_.select(0, up_to(size)).item<float>() != value_) soak_.fail("an element is not what it was");
        return;
      case 6: {
        const at::Tensor host = at::full({size}, value_ + 1);
        x_.copy_(host, true);
        value_ += 1;
        return;
      }
      case 7: {  // an operator of the CPU
        const at::Tensor one = x_.slice(0, 0, 1).reshape({1, 1});
        if (at::real(at::_linalg_eigvals(one)).item<float>() != value_)
          soak_.fail("the CPU's operator saw another value");
        return;
      }
      case 8: {
        c10::Event event(c10::DeviceType::MPS);
        event.record(guard_.getStream(mps));
        const bool was_reached = event.query();
        event.synchronize();
        if (!event.query()) soak_.fail(was_reached ? "an event is undone" : "an event is not reached after waiting");
        return;
      }
      case 9: guard_.synchronizeStream(*soak_.streams[up_to(stream_count)]); return;
      case 10: {
        const at::Tensor rows = at::ones({16, 16}, at::TensorOptions(mps));
        if (at::mm(rows, rows).select(0, 0).select(0, up_to(16)).item<float>() != 16) soak_.fail("a product is wrong");
        return;
      }
      default: {
        const at::Tensor leaf = x_.detach().clone().set_requires_grad(true);
        leaf.mul(3).sum().backward();
        if (leaf.grad().select(0, up_to(size)).item<float>() != 3) soak_.fail("a derivative is wrong");
        if (value_ > 1e6F) reset();
        return;
      }
    }
  }

  Soak& soak_;
  const unsigned number_;
  std::mt19937 random_;
  const c10::impl::VirtualGuardImpl guard_{c10::DeviceType::MPS};
  at::Tensor x_;
  float value_ = 0;
};

thread_local std::string text;

// A process that does not end says where its threads are, which nobody else can tell.
constexpr auto patience = std::chrono::seconds(120);  // beyond the time that was asked for
const int show_stack = SIGRTMIN + 5;
std::atomic<unsigned> stacks_written{0};

void write_stack(int) {
  std::array<void*, 48> frames{};
  ::dprintf(STDERR_FILENO, "thread %ld:\n", static_cast<long>(::gettid()));
  ::backtrace_symbols_fd(frames.data(), ::backtrace(frames.data(), static_cast<int>(frames.size())), STDERR_FILENO);
  ++stacks_written;
}

void end_after(std::chrono::duration<double> time) {
  std::signal(show_stack, &write_stack);
  std::thread([time] {
    std::this_thread::sleep_for(time + patience);
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      const unsigned before = stacks_written;
      ::syscall(SYS_tgkill, ::getpid(), std::atoi(task.path().filename().c_str()), show_stack);
      for (int i = 0; i < 1000 && stacks_written == before; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
    ::_exit(3);
  }).detach();
}

}  // namespace

// Returns what went wrong, a line each; the number of steps in `steps`.
extern "C" __attribute__((visibility("default"))) const char* soak(double seconds, std::uint64_t* steps) {
  end_after(std::chrono::duration<double>(seconds));
  Soak soak;
  const c10::impl::VirtualGuardImpl guard(c10::DeviceType::MPS);
  for (auto& stream : soak.streams) stream = guard.getNewStream(mps);
  soak.end = std::chrono::steady_clock::now() +
             std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < thread_count; ++number) {
    threads.emplace_back([&soak, number] { Worker(soak, number).run(); });
  }
  for (std::thread& thread : threads) thread.join();
  *steps = soak.steps;
  text = soak.failures;
  return text.c_str();
}
