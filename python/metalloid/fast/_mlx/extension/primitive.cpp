// A kernel as an operation of MLX's graph. Compiled against the MLX that is installed (fast/_mlx_build.py), and loaded
// by metalloid._core; interface.h is all that the two know of each other.
//
// MLX evaluates an operation in two steps. eval_cpu allocates its outputs on the thread that asked for values, and may
// throw: here the kernel is compiled and its launch checked. The work itself is queued to the thread of the operation's
// stream, in order with other operations; what it throws there is kept by MLX and raised where somebody waits.
#include "interface.h"

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "mlx/allocator.h"
#include "mlx/array.h"
#include "mlx/backend/cpu/encoder.h"
#include "mlx/primitives.h"
#include "mlx/scheduler.h"
#include "mlx/stream.h"
#include "mlx/transforms.h"

// MLX has these together: errors of a stream's thread are caught there.
#if __has_include("mlx/error.h")
#define METALLOID_RUNS_IN_STREAM true
#else
#define METALLOID_RUNS_IN_STREAM false
#endif

namespace mx = mlx::core;
using namespace metalloid::mlx_extension;

namespace {

const Host* host = nullptr;

// Kernels that are queued or run. The process must not end under them.
class Pending {
 public:
  void begin() {
    std::lock_guard lock(mutex_);
    ++count_;
  }
  void end() {
    std::lock_guard lock(mutex_);
    if (--count_ == 0) none_.notify_all();
  }
  void finish() {
    std::unique_lock lock(mutex_);
    none_.wait(lock, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  long count_ = 0;
};

Pending& pending() {
  static auto* instance = new Pending;  // outlives static destructors, as MLX's own threads do
  return *instance;
}

struct PendingScope {
  PendingScope() { pending().begin(); }
  ~PendingScope() { pending().end(); }
  PendingScope(const PendingScope&) = delete;
};

// In the order of metalloid::ElementType, whose first is none.
constexpr mx::Dtype::Val dtype_order[] = {mx::Dtype::Val::bool_,   mx::Dtype::Val::int8,     mx::Dtype::Val::uint8,
                                          mx::Dtype::Val::int16,   mx::Dtype::Val::uint16,   mx::Dtype::Val::int32,
                                          mx::Dtype::Val::uint32,  mx::Dtype::Val::int64,    mx::Dtype::Val::uint64,
                                          mx::Dtype::Val::float16, mx::Dtype::Val::bfloat16, mx::Dtype::Val::float32,
                                          mx::Dtype::Val::float64, mx::Dtype::Val::complex64};

int number_of(mx::Dtype dtype) {
  for (int i = 0; i < static_cast<int>(std::size(dtype_order)); ++i) {
    if (dtype_order[i] == dtype.val()) return i + 1;
  }
  throw std::invalid_argument("[metal_kernel] Not an element type that a kernel can have.");
}

mx::Dtype dtype_of(int number) {
  switch (dtype_order[number - 1]) {
    case mx::Dtype::Val::bool_: return mx::bool_;
    case mx::Dtype::Val::uint8: return mx::uint8;
    case mx::Dtype::Val::uint16: return mx::uint16;
    case mx::Dtype::Val::uint32: return mx::uint32;
    case mx::Dtype::Val::uint64: return mx::uint64;
    case mx::Dtype::Val::int8: return mx::int8;
    case mx::Dtype::Val::int16: return mx::int16;
    case mx::Dtype::Val::int32: return mx::int32;
    case mx::Dtype::Val::int64: return mx::int64;
    case mx::Dtype::Val::float16: return mx::float16;
    case mx::Dtype::Val::bfloat16: return mx::bfloat16;
    case mx::Dtype::Val::float64: return mx::float64;
    case mx::Dtype::Val::complex64: return mx::complex64;
    default: return mx::float32;
  }
}

// Shape, strides and memory of an array for a task, which must not touch what other threads use. Where the memory is,
// is asked when the task runs: an input may come from a GPU that has not finished it before.
class View {
 public:
  explicit View(const mx::array& array)
      : shape_(array.shape().begin(), array.shape().end()),
        strides_(array.strides().begin(), array.strides().end()),
        dtype_(number_of(array.dtype())) {}

  void set_memory(const mx::array& array) { memory_ = mx::array::unsafe_weak_copy(array); }
  void set_memory(void* scratch) { scratch_ = scratch; }

  // The data is null without memory.
  ArrayView get() {
    void* data = scratch_;
    if (data == nullptr && memory_) data = memory_->data<char>();
    return {data, dtype_, shape_.size(), shape_.data(), strides_.data()};
  }

 private:
  std::vector<std::int32_t> shape_;
  std::vector<std::int64_t> strides_;
  int dtype_;
  std::optional<mx::array> memory_;
  void* scratch_ = nullptr;
};

std::vector<ArrayView> plain(std::vector<View>& views) {
  std::vector<ArrayView> result;
  for (View& view : views) result.push_back(view.get());
  return result;
}

[[noreturn]] void raise(const Failure& failure) {
  const std::string text = failure.text == nullptr ? "" : failure.text;
  std::free(failure.text);
  if (failure.kind == Failure::invalid_argument) throw std::invalid_argument(text);
  throw std::runtime_error(text);
}

template <typename Action>
void report(Failure* failure, Action action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    *failure = {Failure::invalid_argument, strdup(error.what())};
  } catch (const std::exception& error) {
    *failure = {Failure::other, strdup(error.what())};
  }
}

// Memory of the outputs while a task is queued. Held weakly: an operation that comes next may take it over, and what
// nobody can see any more need not be computed.
class Outputs {
 public:
  void add(const mx::array& array) {
    views_.emplace_back(array).set_memory(array);
    memory_.push_back(array.data_shared_ptr());
    bytes_.push_back(array.nbytes());
  }

  // Runs action(views), unless all outputs are gone. The memory stays until it has returned.
  template <typename Action>
  void use(Action action) {
    std::vector<std::shared_ptr<mx::array::Data>> held;
    std::vector<std::unique_ptr<char[]>> scratch;
    bool is_wanted = false;
    for (std::size_t i = 0; i < views_.size(); ++i) {
      held.push_back(memory_[i].lock());
      if (held.back() != nullptr) {
        is_wanted = true;
      } else {
        scratch.push_back(std::make_unique<char[]>(bytes_[i] + 1));
        views_[i].set_memory(scratch.back().get());
      }
    }
    if (is_wanted) action(plain(views_));
  }

 private:
  std::vector<View> views_;
  std::vector<std::weak_ptr<mx::array::Data>> memory_;
  std::vector<std::size_t> bytes_;
};

// MLX's allocator does not survive a lack of memory; so large pieces are tried first.
auto allocate(std::size_t bytes) {
  if (bytes > std::size_t{1} << 28) {
    void* trial = std::malloc(bytes);
    if (trial == nullptr) throw std::runtime_error("[malloc] Unable to allocate " + std::to_string(bytes) + " bytes.");
    std::free(trial);
  }
  return mx::allocator::malloc(bytes);
}

class MetalloidKernel : public mx::Primitive {
 public:
  MetalloidKernel(mx::Stream stream, std::shared_ptr<void> call) : Primitive(stream), call_(std::move(call)) {}

  void eval_cpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) override {
    auto task = std::make_shared<Task>();
    task->call = call_;
    std::vector<View> unallocated;
    for (const mx::array& input : inputs) task->inputs.emplace_back(input);
    for (const mx::array& output : outputs) unallocated.emplace_back(output);
    {
      const auto in = plain(task->inputs), out = plain(unallocated);
      Failure failure;
      host->check(call_.get(), in.data(), in.size(), out.data(), out.size(), &failure);
      if (failure.kind != Failure::none) raise(failure);
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      task->inputs[i].set_memory(inputs[i]);
      task->memory_of_inputs.push_back(inputs[i].data_shared_ptr());
    }
    for (mx::array& output : outputs) {
      output.set_data(allocate(output.nbytes()));
      task->outputs.add(output);
    }
    if (METALLOID_RUNS_IN_STREAM) {
      mx::cpu::get_command_encoder(stream()).dispatch([task] { task->run(); });
    } else {
      mx::synchronize(stream());  // inputs have their values then
      task->run();
    }
  }

  void eval_gpu(const std::vector<mx::array>&, std::vector<mx::array>&) override {
    throw std::runtime_error("[metal_kernel] Metalloid's kernels are on a stream of the CPU.");
  }

  std::vector<mx::array> jvp(const std::vector<mx::array>&, const std::vector<mx::array>&,
                             const std::vector<int>&) override {
    refuse("jvp");
  }
  std::vector<mx::array> vjp(const std::vector<mx::array>&, const std::vector<mx::array>&, const std::vector<int>&,
                             const std::vector<mx::array>&) override {
    refuse("vjp");
  }
  std::pair<std::vector<mx::array>, std::vector<int>> vmap(const std::vector<mx::array>&,
                                                           const std::vector<int>&) override {
    refuse("vmap");
  }
  std::vector<mx::Shape> output_shapes(const std::vector<mx::array>&) override {
    throw std::invalid_argument("[Primitive::output_shapes] CustomKernel cannot infer output shapes.");
  }

  // Not "CustomKernel": by that name mx.export_function would take it for MLX's own class.
  const char* name() const override { return "MetalloidKernel"; }

 private:
  struct Task {
    PendingScope pending;  // the first, so that it ends after all else is gone
    std::shared_ptr<void> call;
    std::vector<View> inputs;
    std::vector<std::shared_ptr<mx::array::Data>> memory_of_inputs;
    Outputs outputs;

    void run() {
      outputs.use([this](const std::vector<ArrayView>& out) {
        const auto in = plain(inputs);
        Failure failure;
        host->run(call.get(), in.data(), in.size(), out.data(), out.size(), &failure);
        if (failure.kind != Failure::none) raise(failure);
      });
    }
  };

  [[noreturn]] static void refuse(const std::string& transformation) {
    throw std::invalid_argument("[Primitive::" + transformation + "] Not implemented for CustomKernel.");
  }

  std::shared_ptr<void> call_;
};

const mx::array& array_at(void* array) { return *static_cast<const mx::array*>(array); }

void add_node(void* call, void* const* inputs, std::size_t input_count, const ArrayView* output_types,
              void* const* outputs, std::size_t output_count, Failure* failure) {
  std::shared_ptr<void> owned(call, host->release);
  report(failure, [&] {
    std::vector<mx::array> arrays;
    for (std::size_t i = 0; i < input_count; ++i) arrays.push_back(array_at(inputs[i]));
    std::vector<mx::Shape> shapes;
    std::vector<mx::Dtype> dtypes;
    for (std::size_t i = 0; i < output_count; ++i) {
      const ArrayView& type = output_types[i];
      shapes.emplace_back(type.shape, type.shape + type.dimensions);
      dtypes.push_back(dtype_of(type.dtype));
    }
    auto primitive = std::make_shared<MetalloidKernel>(mx::default_stream(mx::Device::cpu), std::move(owned));
    auto results = mx::array::make_arrays(std::move(shapes), dtypes, primitive, arrays);
    for (std::size_t i = 0; i < output_count; ++i) *static_cast<mx::array*>(outputs[i]) = std::move(results[i]);
  });
}

bool is_traced(void* const* arrays, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (array_at(arrays[i]).is_tracer()) return true;
  }
  return false;
}

std::size_t shape_of(void* array, std::int32_t* shape, std::size_t dimensions) {
  const mx::Shape& extents = array_at(array).shape();
  for (std::size_t i = 0; i < extents.size() && i < dimensions; ++i) shape[i] = extents[i];
  return extents.size();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const Extension* metalloid_mlx_extension(const Host* caller) {
  host = caller;
  static constexpr Extension extension{interface_version, sizeof(mx::array), METALLOID_RUNS_IN_STREAM,  add_node,
                                       is_traced,         shape_of,          [] { pending().finish(); }};
  return &extension;
}
