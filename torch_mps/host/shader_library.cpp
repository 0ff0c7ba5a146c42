// MetalShaderLibrary and its kin: sources, the kernels that they have, and their pipeline states.
#include <ATen/mps/MPSDevice.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <c10/util/Exception.h>
#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <string_view>

#include <metalloid/metal/objects.h>
#include "../device/errors.h"
#include "bundled_library.h"
#include "shader_options.h"
#include "torch_headers.h"

namespace at::native::mps {
namespace {

using metalloid::metal::FunctionObject;
using metalloid::metal::LibraryObject;
using metalloid::metal::make_object;
using metalloid::metal::object_of;
using metalloid::metal::PipelineObject;

// Of the caches of all libraries. A compile may ask another library for its kernels.
std::recursive_mutex& mutex = *new std::recursive_mutex;

// Tensors came with Metal 4: whoever includes their headers means it.
bool has_tensors(std::string_view source) {
  return source.find("#include <MetalPerformancePrimitives/") != std::string_view::npos ||
         source.find("#include <metal_tensor>") != std::string_view::npos;
}

metalloid::CompileOptions default_options(std::string_view source) {
  metalloid::CompileOptions options;
  const char* fast = std::getenv("PYTORCH_MPS_FAST_MATH");
  options.math_mode = fast && std::string_view(fast) != "0" ? metalloid::MathMode::fast : metalloid::MathMode::safe;
  const auto version = static_cast<std::uint32_t>(has_tensors(source) ? at::mps::MetalLanguageVersion::METAL_4_0
                                                                      : at::mps::metal_language_version());
  options.language = {static_cast<std::uint8_t>(version >> 16), static_cast<std::uint8_t>(version & 0xff)};
  return options;
}

LibraryObject* compiled(const std::string& source, const void* options) {
  try {
    return metalloid::metal::compile_library(source, options);
  } catch (const metalloid::Error& error) {
    if (error.code() == metalloid::ErrorCode::compile_error) metalloid::torch_device::raise(error);
    TORCH_CHECK(false, "Failed to create metal library, error: ", error.what());
  }
}

// Of a kernel that is missing: the one whose name begins most like it, if it has its first word.
std::string nearest_to(const std::string& name, const LibraryObject& library) {
  const auto common = [&](const std::string& other) {
    return static_cast<std::size_t>(std::mismatch(name.begin(), name.end(), other.begin(), other.end()).first -
                                    name.begin());
  };
  const auto after = library.part_of.lower_bound(name);
  std::string nearest;
  if (after != library.part_of.end()) nearest = after->first;
  if (after != library.part_of.begin()) {
    if (const std::string& before = std::prev(after)->first; common(before) >= common(nearest)) nearest = before;
  }
  return common(nearest) > name.find('_') ? " (its library has " + nearest + ")" : "";
}

// Under the mutex.
LibraryObject::Ready& ready(LibraryObject& library, const std::string& name) {
  if (const auto found = library.ready.find(name); found != library.ready.end()) return found->second;
  const auto part = library.part_of.find(name);
  TORCH_CHECK(part != library.part_of.end(), "Failed to create function state object for: ", name,
              nearest_to(name, library));
  try {
    const metalloid::Kernel kernel = library.parts[part->second].library().kernel(name);
    auto* function = make_object<FunctionObject>(name, kernel);
    auto* pipeline = make_object<PipelineObject>(kernel);
    return library.ready.emplace(name, LibraryObject::Ready{pipeline, function, nullptr}).first->second;
  } catch (const metalloid::Error& error) {
    if (error.code() == metalloid::ErrorCode::compile_error) metalloid::torch_device::raise(error);
    TORCH_CHECK(false, "Failed to created pipeline state object, error: ", error.what());
  }
}

// The same, as operators use it. Under the mutex.
const std::shared_ptr<void>& kernel_of(MTLLibrary_t library, const std::string& name) {
  LibraryObject::Ready& found = ready(*object_of<LibraryObject>(library), name);
  if (!found.attachment) found.attachment = std::make_shared<MetalKernelFunction>(found.pipeline, found.function);
  return found.attachment;
}

void release(const void* handle) {
  metalloid::metal::release(static_cast<metalloid::metal::Object*>(const_cast<void*>(handle)));
}

// PyTorch's prebuilt library, made of the sources that were added.
class BundledLibrary final : public MetalShaderLibrary {
 public:
  BundledLibrary() : MetalShaderLibrary("") {}

  void add(std::string source) {
    const std::lock_guard lock(mutex);
    open_.push_back(std::move(source));
  }

 protected:
  MTLLibrary_t getLibrary() override {
    const std::lock_guard lock(mutex);
    if (!library) library = make_object<LibraryObject>(std::vector<metalloid::metal::LibraryPart>{});
    auto* all = object_of<LibraryObject>(library);
    while (!open_.empty()) {
      LibraryObject* one = compiled(open_.front(), nullptr);
      open_.erase(open_.begin());
      for (const auto& [name, part] : one->part_of) all->part_of.emplace(name, all->parts.size() + part);
      std::ranges::move(one->parts, std::back_inserter(all->parts));
      release(one);
    }
    return library;
  }
  MTLLibrary_t getLibrary(const std::initializer_list<std::string>&) override {
    TORCH_CHECK(false, "the bundled Metal library takes no parameters");
  }

 private:
  std::vector<std::string> open_;  // not compiled yet
};

BundledLibrary& bundled_library() {
  static BundledLibrary& instance = *new BundledLibrary;
  return instance;
}

}  // namespace

MetalShaderLibrary::~MetalShaderLibrary() {
  for (const auto& [_, one] : libMap) release(one);
  release(library);
}

MetalShaderLibrary& MetalShaderLibrary::getBundledLibrary() { return bundled_library(); }

MTLLibrary_t MetalShaderLibrary::getLibrary() {
  const std::lock_guard lock(mutex);
  if (!library) {
    TORCH_INTERNAL_ASSERT(nparams == 0);
    library = compileLibrary(shaderSource);
  }
  return library;
}

MTLLibrary_t MetalShaderLibrary::getLibrary(const std::initializer_list<std::string>& params) {
  TORCH_INTERNAL_ASSERT(nparams == params.size(), "the library's source has ", nparams, " parameters; ", params.size(),
                        " given");
  const std::lock_guard lock(mutex);
  std::string joined;
  for (const std::string& one : params) joined += one + ":";
  MTLLibrary_t& found = libMap[joined];
  if (!found) {
    fmt::dynamic_format_arg_store<fmt::format_context> arguments;
    for (const std::string& one : params) arguments.push_back(one);
    std::string source;
    try {
      source = fmt::vformat(shaderSource, arguments);
    } catch (const fmt::format_error& error) {
      TORCH_CHECK(false, "the library's source is no format of ", nparams, " parameters: ", error.what());
    }
    found = compileLibrary(source);
  }
  return found;
}

MTLLibrary_t MetalShaderLibrary::compileLibrary(const std::string& src) { return compiled(src, compile_options); }

std::pair<MTLComputePipelineState_t, MTLFunction_t> MetalShaderLibrary::getLibraryPipelineState(
    MTLLibrary_t lib, const std::string& fname) {
  const std::lock_guard lock(mutex);
  const LibraryObject::Ready& kernel = ready(*object_of<LibraryObject>(lib), fname);
  return {kernel.pipeline, kernel.function};
}

std::vector<std::string> MetalShaderLibrary::getFunctionNames() {
  TORCH_CHECK(!library || nparams == 0, "a library with parameters has no functions of its own");
  std::vector<std::string> names;
  const std::lock_guard lock(mutex);
  for (const auto& [name, _] : object_of<LibraryObject>(getLibrary())->part_of) names.push_back(name);
  return names;
}

bool MetalShaderLibrary::hasFunction(const std::string& fname) {
  const std::lock_guard lock(mutex);
  const auto* sources = object_of<LibraryObject>(getLibrary());
  return sources->ready.contains(fname) || sources->part_of.contains(fname);
}

std::shared_ptr<MetalKernelFunction> MetalShaderLibrary::getKernelFunction(const std::string& name) {
  const std::lock_guard lock(mutex);
  return std::static_pointer_cast<MetalKernelFunction>(kernel_of(getLibrary(), name));
}

MetalKernelFunction* MetalShaderLibrary::getCachedKernelFunctionPtr(const std::string& name) {
  const std::lock_guard lock(mutex);
  return static_cast<MetalKernelFunction*>(kernel_of(getLibrary(), name).get());
}

DynamicMetalShaderLibrary::~DynamicMetalShaderLibrary() = default;

PrecompiledMetalShaderLibrary::PrecompiledMetalShaderLibrary(std::vector<uint8_t> bytes) : MetalShaderLibrary("") {
  try {
    library = metalloid::metal::load_library({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  } catch (const metalloid::Error& error) {
    TORCH_CHECK(false, "Failed to load metallib: ", error.what());
  }
}

PrecompiledMetalShaderLibrary::PrecompiledMetalShaderLibrary(const std::string& path) : MetalShaderLibrary("") {
  try {
    library = metalloid::metal::load_library_file(path);
  } catch (const metalloid::Error& error) {
    TORCH_CHECK(false, "Failed to load metallib from '", path, "': ", error.what());
  }
}

PrecompiledMetalShaderLibrary::~PrecompiledMetalShaderLibrary() = default;

}  // namespace at::native::mps

void metalloid::torch_host::add_bundled_source(std::string source) {
  at::native::mps::bundled_library().add(std::move(source));
}

metalloid::CompileOptions metalloid::torch_host::compile_options(const std::string& source,
                                                                 const CompileOptions* given) {
  CompileOptions chosen = given ? *given : at::native::mps::default_options(source);
  chosen.headers.merge(torch_headers_included_by(source));
  return chosen;
}
