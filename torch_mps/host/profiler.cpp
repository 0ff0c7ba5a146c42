// MPSProfiler: counts operators' kernels and reports them where PYTORCH_MPS_LOG_PROFILE_INFO asks for it. Traces are
// Metalloid's own ($METALLOID_TRACE).
#include <ATen/mps/MPSProfiler.h>
#include <c10/util/Exception.h>

#include <cstdlib>
#include <iostream>
#include <mutex>

namespace at::mps {
namespace Profiler {
namespace {

std::mutex& mutex = *new std::mutex;

uint32_t options_from(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? static_cast<uint32_t>(std::strtoul(value, nullptr, 0)) : 0;
}

}  // namespace

const std::string BaseInfo::toString(double, double) const { return "id=" + std::to_string(profileId); }

std::string BaseInfo::buildTensorString(const Tensor& tensor, bool) {
  std::ostringstream text;
  if (!tensor.defined()) return "Undefined";
  text << c10::DeviceTypeName(tensor.device().type()) << ':' << tensor.scalar_type() << tensor.sizes();
  return std::move(text).str();
}

const std::string OperationInfo::toString(double, double) const {
  return strKey + " (id=" + (type == Type::GRAPH ? "G" : "K") + std::to_string(profileId) +
         ", run=" + std::to_string(runCount) + ")";
}

const std::string CpuFbInfo::toString(double, double) const {
  return "CPU Fallback::" + opName + " (id=" + std::to_string(profileId) + ", run=" + std::to_string(runCount) + ")";
}

const std::string CopyInfo::toString(double, double) const {
  return "Copy::" + srcStrKey + " --> " + dstStrKey + " (" + std::to_string(length) + " bytes)";
}

std::string CopyInfo::buildTensorString(const void* buffer, const OptionalTensorRef tensor, bool include_buffer) {
  if (tensor.has_value()) return BaseInfo::buildTensorString(*tensor, include_buffer);
  std::ostringstream text;
  text << buffer;
  return std::move(text).str();
}

MPSProfiler::MPSProfiler() : m_os_log_events(nullptr), m_os_log_intervals(nullptr) { initialize(); }

MPSProfiler::~MPSProfiler() { logProfilingStats(); }

void MPSProfiler::initialize() { m_log_options = options_from("PYTORCH_MPS_LOG_PROFILE_INFO") & LogOptions::LOG_COUNT; }

uint64_t MPSProfiler::beginProfileKernel(const void* handle, const std::string& key, bool is_graph, MPSStream*) {
  if (!isOperationProfilingEnabled()) return 0;
  const std::lock_guard lock(mutex);
  auto& info = m_op_info_list[reinterpret_cast<uintptr_t>(handle)];
  if (!info)
    info = std::make_unique<OperationInfo>(handle, is_graph, ++(is_graph ? m_graph_counter : m_kernel_counter), key);
  ++info->runCount;
  if (m_log_options & LogOptions::OPERATION_INFO) std::cerr << info->toString() << '\n';
  return info->profileId;
}
uint64_t MPSProfiler::beginProfileKernel(const void* handle, const std::string& key, bool is_graph) {
  return beginProfileKernel(handle, key, is_graph, nullptr);
}
uint64_t MPSProfiler::beginProfileKernel(const void* handle, const std::string& name, const TensorList& tensors,
                                         MPSStream* stream) {
  if (!isOperationProfilingEnabled()) return 0;
  return beginProfileKernel(handle, OperationInfo::buildKernelString(name, tensors), false, stream);
}
uint64_t MPSProfiler::beginProfileKernel(const void* handle, const std::string& name, const TensorList& tensors) {
  return beginProfileKernel(handle, name, tensors, nullptr);
}

uint64_t MPSProfiler::beginProfileCopy(const void* source, const void* destination, const OptionalTensorRef from,
                                       const OptionalTensorRef to, size_t length, MPSStream*, bool, bool) {
  if (!isCopyProfilingEnabled()) return 0;
  const std::lock_guard lock(mutex);
  const uint64_t id = ++m_copy_counter;
  if (m_log_options & LogOptions::COPY_INFO) {
    std::cerr << "Copy::" << CopyInfo::buildTensorString(source, from) << " --> "
              << CopyInfo::buildTensorString(destination, to) << " (id=C" << id << ", " << length << " bytes)\n";
  }
  return id;
}
uint64_t MPSProfiler::beginProfileCopy(const void* source, const void* destination, const OptionalTensorRef from,
                                       const OptionalTensorRef to, size_t length, bool non_blocking, bool blitter) {
  return beginProfileCopy(source, destination, from, to, length, nullptr, non_blocking, blitter);
}

uint64_t MPSProfiler::beginProfileCPUFallback(const std::string& name, const TensorList& tensors) {
  if (!isCPUFallbackProfilingEnabled()) return 0;
  const std::lock_guard lock(mutex);
  auto& info = m_cpu_fb_info_list[name];
  if (!info) info = std::make_unique<CpuFbInfo>(++m_cpu_fb_counter, name);
  ++info->runCount;
  info->startTime = BaseInfo::getTime();
  info->updateCopyOverhead(tensors);
  return info->profileId;
}

void MPSProfiler::endProfileCPUFallback(const std::string& name) {
  if (!isCPUFallbackProfilingEnabled()) return;
  const std::lock_guard lock(mutex);
  const auto found = m_cpu_fb_info_list.find(name);
  if (found == m_cpu_fb_info_list.end()) return;
  const double milliseconds = static_cast<double>(BaseInfo::getTime() - found->second->startTime) * 1e-6;
  found->second->totalSchedulingTime = found->second->totalSchedulingTime + milliseconds;
  if (m_log_options & LogOptions::CPU_FALLBACK_INFO) std::cerr << found->second->toString() << '\n';
}

// Kernels have run when they were dispatched: there is nothing to end.
void MPSProfiler::beginProfileGPUInterval(const void*, MPSStream*) {}
void MPSProfiler::beginProfileGPUInterval(const void*) {}
void MPSProfiler::endProfileCopy(uint64_t, SyncType, MPSStream*) {}
void MPSProfiler::endProfileCopy(uint64_t, SyncType) {}
void MPSProfiler::endProfileKernel(const void*, MPSStream*, SyncType) {}
void MPSProfiler::endProfileKernel(const void*, SyncType) {}

void MPSProfiler::StartTrace(const std::string& mode, bool) {
  TORCH_CHECK(mode == "interval" || mode == "event" || mode == "interval,event" || mode == "event,interval",
              "Invalid Signpost trace mode: ", mode);
  m_signpost_types = SignpostTypes::RUN_OPERATION | SignpostTypes::BLIT_COPY | SignpostTypes::CPU_FALLBACK;
}
void MPSProfiler::StopTrace() { m_signpost_types = SignpostTypes::SIGNPOST_NONE; }

bool MPSProfiler::isCaptureEnabled() const { return false; }
bool MPSProfiler::isCapturing() const { return false; }
void MPSProfiler::startCapture(const std::string&, MPSStream*) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "Metal captures need Apple's tools; METALLOID_TRACE writes what kernels do");
}
void MPSProfiler::stopCapture(MPSStream*) {}

void MPSProfiler::logProfilingStats() {
  if (hasLoggedStats.exchange(true)) return;
  const bool all = m_log_options & LogOptions::ALL_STATS;
  if (all || (m_log_options & LogOptions::OPERATION_STATS)) logOperationsProfilingStats(stderr);
  if (all || (m_log_options & LogOptions::CPU_FALLBACK_STATS)) logCPUFallbackProfilingStats(stderr);
}

void MPSProfiler::logOperationsProfilingStats(std::FILE* file) const {
  for (const auto& [_, info] : m_op_info_list) std::fprintf(file, "%s\n", info->toString().c_str());
}

void MPSProfiler::logCPUFallbackProfilingStats(std::FILE* file) const {
  for (const auto& [_, info] : m_cpu_fb_info_list) std::fprintf(file, "%s\n", info->toString().c_str());
}

}  // namespace Profiler

Profiler::MPSProfiler& getMPSProfiler() {
  static Profiler::MPSProfiler profiler;
  return profiler;
}

}  // namespace at::mps
