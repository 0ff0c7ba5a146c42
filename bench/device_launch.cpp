// The bare launch of a kernel, for device_calls.py: what an operator on "mps" takes besides is the dispatcher's and the
// host library's.
#include <ATen/core/Tensor.h>
#include <metalloid/metal/objects.h>
#include <torch/library.h>

#include <algorithm>
#include <ctime>

namespace {

double seconds_of_thread() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double seconds_per_launch(const std::string& source, const std::string& name, at::TensorList arguments,
                          std::int64_t count) {
  auto* library = metalloid::metal::compile_library(source, nullptr);
  const metalloid::Kernel kernel = library->parts[0].library().kernel(name);
  const auto threads = static_cast<std::uint32_t>(arguments[0].numel());
  const auto group = std::min<std::uint32_t>(threads, kernel.max_total_threads_per_threadgroup());
  metalloid::Dispatch dispatch;
  for (std::uint32_t i = 0; i < arguments.size(); ++i) {
    dispatch.buffer(i, metalloid::Buffer::wrap(arguments[i].storage().mutable_data(), arguments[i].nbytes()));
  }
  dispatch.threads({threads, 1, 1}, {group, 1, 1});
  for (int i = 0; i < 10; ++i) metalloid::run(kernel, dispatch);
  const double begin = seconds_of_thread();
  for (std::int64_t i = 0; i < count; ++i) metalloid::run(kernel, dispatch);
  const double took = seconds_of_thread() - begin;
  metalloid::metal::release(library);
  return took / static_cast<double>(count);
}

TORCH_LIBRARY(metalloid_bench, library) {
  library.def("seconds_per_launch(str source, str name, Tensor[] arguments, int count) -> float", &seconds_per_launch);
}

}  // namespace
