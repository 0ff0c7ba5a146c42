// A library in place of NVIDIA's driver, for machines without a GPU: $METALLOID_CUDA_DRIVER names it. It has one
// device, whose memory is the host's, and launches nothing, but looks whether contexts, streams and memory are its own,
// and what may be done while a stream is captured. What goes wrong is chosen by variables:
//
//   STAND_IN_DEVICES=0      how many devices there are
//   STAND_IN_VERSION=11040  the driver's version
//   STAND_IN_CAPABILITY=75  the devices' compute capability
//   STAND_IN_FAIL=cuMemAlloc_v2:2   the result of a function; several are separated by commas
//   STAND_IN_ENDLESS=1      kernels never end, and what waits for them does not return
//   STAND_IN_LOG=file       gets a line for each launch: stream, context, grid, block, and the parameters' bytes
//   STAND_IN_MOST_OPTIMISATION=0   up to which level modules are taken
//   STAND_IN_REFUSE=text    modules that have it are refused
//   STAND_IN_CUBINS=new     a name for the machine code that it makes; that of other names is refused
//   STAND_IN_MODULES=file   gets a line for each module that is loaded, "PTX" or "cubin", and "link" for each that is
//   made STAND_IN_PTXAS=ptxas    a program that assembles each module; what it says is the loading's error
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace {

std::string variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value ? value : otherwise;
}

int number(const char* name, int otherwise) {
  return std::atoi(variable(name, std::to_string(otherwise).c_str()).c_str());
}

// What a function is to return; 0 unless STAND_IN_FAIL says otherwise. Asked at each call, and quick: what a call costs
// the host is measured with this library, too.
int result_of(const char* function) {
  static const std::string& all = *new std::string("," + variable("STAND_IN_FAIL", "") + ",");
  if (all.size() == 2) return 0;
  const std::string name = std::string(",") + function + ":";
  const std::size_t place = all.find(name);
  return place == std::string::npos ? 0 : std::atoi(all.c_str() + place + name.size());
}

constexpr int invalid_ptx = 218;

enum Result : int {
  success = 0,
  invalid_value = 1,
  invalid_context = 201,
  invalid_handle = 400,
  not_ready = 600,
  not_while_capturing = 900,
};

// What there is. Never destroyed: other threads may be at work.
struct Things {
  std::mutex mutex;
  std::map<std::uint64_t, std::size_t> memory;
  std::set<void*> streams{nullptr, reinterpret_cast<void*>(1), reinterpret_cast<void*>(2)};
  std::set<void*> captured;
  std::set<void*> events;
};
Things& things = *new Things;

int contexts[16];  // their addresses are the devices' primary contexts
thread_local void* current_context = nullptr;
thread_local int capture_mode = 0;  // 2: relaxed

// What a function is to return that needs a context and, unless `stream` is null, knows the stream.
int result_in_context(const char* function, void* stream = nullptr) {
  const std::lock_guard lock(things.mutex);
  if (!current_context) return invalid_context;
  if (!things.streams.contains(stream)) return invalid_handle;
  return result_of(function);
}

// Of a function that makes or waits, which no capture bears.
int result_out_of_capture(const char* function) {
  const int result = result_in_context(function);
  const std::lock_guard lock(things.mutex);
  return result == success && !things.captured.empty() && capture_mode != 2 ? not_while_capturing : result;
}

bool is_endless() {
  static const bool is = number("STAND_IN_ENDLESS", 0) != 0;
  return is;
}

// Whether a kernel runs that never ends.
std::atomic<bool> is_stuck{false};

// As a driver does that waits for what runs.
void wait_for_kernels() {
  while (is_stuck) ::pause();
}

int result_behind_kernels(const char* function, void* stream = nullptr) {
  const int result = result_in_context(function, stream);
  return result == success && is_stuck ? not_ready : result;
}

int allocate(const char* function, std::uint64_t* address, std::size_t bytes) {
  const int result = result_out_of_capture(function);
  if (result != success) return result;
  *address = reinterpret_cast<std::uint64_t>(std::calloc(bytes, 1));
  const std::lock_guard lock(things.mutex);
  things.memory[*address] = bytes;
  return success;
}

int release(std::uint64_t address) {
  const std::lock_guard lock(things.mutex);
  if (things.memory.erase(address) == 0) return invalid_value;
  std::free(reinterpret_cast<void*>(address));
  return success;
}

bool is_memory(std::uint64_t address, std::size_t bytes) {
  const std::lock_guard lock(things.mutex);
  auto found = things.memory.upper_bound(address);
  return found != things.memory.begin() && address + bytes <= (--found)->first + found->second;
}

// "0" or what the assembler said.
int assemble(const char* ptx, int level, std::string& log) {
  if (level > number("STAND_IN_MOST_OPTIMISATION", 4)) return invalid_ptx;
  const std::string refused = variable("STAND_IN_REFUSE", "");
  if (!refused.empty() && std::string(ptx).find(refused) != std::string::npos) {
    log = "the stand-in refuses " + refused + "\n";
    return invalid_ptx;
  }
  const std::string program = variable("STAND_IN_PTXAS", "");
  if (program.empty()) return 0;
  std::string file = variable("TMPDIR", "/tmp") + "/stand_in_XXXXXX";
  const int descriptor = ::mkstemp(file.data());
  ::close(descriptor);
  std::ofstream(file) << ptx;
  std::string capability = std::to_string(number("STAND_IN_CAPABILITY", 90));
  // Code for this very GPU ("sm_90a"), which a driver takes as well.
  if (std::string(ptx).find(".target sm_" + capability + "a") != std::string::npos) capability += 'a';
  const std::string command = program + " -O" + std::to_string(std::min(level, 3)) + " -arch=sm_" + capability +
                              " -o /dev/null " + file + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  char piece[256];
  while (std::fgets(piece, sizeof(piece), pipe)) log += piece;
  const int status = ::pclose(pipe);
  ::unlink(file.c_str());
  return status == 0 ? 0 : invalid_ptx;
}

void note_module(const char* what) {
  const std::string file = variable("STAND_IN_MODULES", "");
  if (!file.empty()) std::ofstream(file, std::ios::app) << what << '\n';
}

void* as_pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }
std::uint64_t as_number(void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

}  // namespace

#define STAND_IN extern "C" __attribute__((visibility("default"))) int

STAND_IN cuInit(unsigned) { return result_of("cuInit"); }
STAND_IN cuDriverGetVersion(int* version) {
  *version = number("STAND_IN_VERSION", 13000);
  return result_of("cuDriverGetVersion");
}
STAND_IN cuDeviceGetCount(int* count) {
  *count = number("STAND_IN_DEVICES", 1);
  return result_of("cuDeviceGetCount");
}
STAND_IN cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return result_of("cuDeviceGet");
}
STAND_IN cuDeviceGetName(char* name, int bytes, int) {
  std::snprintf(name, static_cast<std::size_t>(bytes), "Stand-in");
  return result_of("cuDeviceGetName");
}
STAND_IN cuDeviceGetAttribute(int* value, int attribute, int) {
  const int capability = number("STAND_IN_CAPABILITY", 90);
  const std::map<int, int> values = {{75, capability / 10},
                                     {76, capability % 10},
                                     {13, 1000000},
                                     {16, 10},
                                     {36, 500000},
                                     {37, 64},
                                     {39, 2048}};  // 1 GHz, ten, 0.5 GHz, 64 bits
  const auto found = values.find(attribute);
  *value = found == values.end() ? 1 : found->second;
  return result_of("cuDeviceGetAttribute");
}
STAND_IN cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = &contexts[device];
  return result_of("cuDevicePrimaryCtxRetain");
}
STAND_IN cuCtxGetCurrent(void** context) {
  *context = current_context;
  return result_of("cuCtxGetCurrent");
}
STAND_IN cuCtxSetCurrent(void* context) {
  current_context = context;
  return result_of("cuCtxSetCurrent");
}
std::size_t stack_limit = 1024;
STAND_IN cuCtxGetLimit(std::size_t* value, int /*limit*/) {
  *value = stack_limit;
  return result_in_context("cuCtxGetLimit");
}
STAND_IN cuCtxSetLimit(int /*limit*/, std::size_t value) {
  stack_limit = value;
  return result_in_context("cuCtxSetLimit");
}
STAND_IN cuCtxSynchronize() {
  wait_for_kernels();
  return result_out_of_capture("cuCtxSynchronize");
}
STAND_IN cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) { return allocate("cuMemAlloc_v2", address, bytes); }
STAND_IN cuMemAllocManaged(std::uint64_t* address, std::size_t bytes, unsigned) {
  return allocate("cuMemAllocManaged", address, bytes);
}
STAND_IN cuMemAllocAsync(std::uint64_t* address, std::size_t bytes, void* stream) {
  const int result = result_in_context("cuMemAllocAsync", stream);
  if (result != success) return result;
  *address = as_number(std::malloc(bytes));
  const std::lock_guard lock(things.mutex);
  things.memory[*address] = bytes;
  return success;
}
STAND_IN cuMemFree_v2(std::uint64_t address) {
  wait_for_kernels();
  const int result = result_in_context("cuMemFree_v2");
  return result != success ? result : release(address);
}
STAND_IN cuMemFreeAsync(std::uint64_t address, void* stream) {
  const int result = result_in_context("cuMemFreeAsync", stream);
  return result != success ? result : release(address);
}
STAND_IN cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
  const int result = result_out_of_capture("cuMemHostAlloc");
  if (result == success) *address = std::malloc(bytes);
  return result;
}
STAND_IN cuMemsetD8_v2(std::uint64_t to, unsigned char value, std::size_t bytes) {
  const int result = result_out_of_capture("cuMemsetD8_v2");
  if (result != success) return result;
  if (!is_memory(to, bytes)) return invalid_value;
  std::memset(as_pointer(to), value, bytes);
  return success;
}
STAND_IN cuStreamSynchronize(void*) {
  wait_for_kernels();
  return result_out_of_capture("cuStreamSynchronize");
}
STAND_IN cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
  wait_for_kernels();
  const int result = result_out_of_capture("cuMemcpyHtoD_v2");
  if (result != success) return result;
  if (!is_memory(to, bytes)) return invalid_value;
  std::memcpy(as_pointer(to), from, bytes);
  return success;
}
STAND_IN cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
  wait_for_kernels();
  const int result = result_out_of_capture("cuMemcpyDtoH_v2");
  if (result != success) return result;
  std::memcpy(to, as_pointer(from), bytes);  // of modules' memory, too
  return success;
}
STAND_IN cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void* stream) {
  const int result = result_in_context("cuMemcpyHtoDAsync_v2", stream);
  if (result != success) return result;
  if (!is_memory(to, bytes)) return invalid_value;
  std::memcpy(as_pointer(to), from, bytes);
  return success;
}
STAND_IN cuStreamCreate(void** stream, unsigned) {
  const int result = result_out_of_capture("cuStreamCreate");
  if (result != success) return result;
  *stream = std::malloc(1);
  const std::lock_guard lock(things.mutex);
  things.streams.insert(*stream);
  return success;
}
STAND_IN cuStreamQuery(void* stream) {
  const int result = result_behind_kernels("cuStreamQuery", stream);
  const std::lock_guard lock(things.mutex);
  return result == success && things.captured.contains(stream) ? not_while_capturing : result;
}
STAND_IN cuStreamIsCapturing(void* stream, int* status) {
  const int result = result_in_context("cuStreamIsCapturing", stream);
  const std::lock_guard lock(things.mutex);
  *status = things.captured.contains(stream) ? 1 : 0;
  return result;
}
STAND_IN cuStreamWaitEvent(void* stream, void* event, unsigned) {
  const int result = result_in_context("cuStreamWaitEvent", stream);
  const std::lock_guard lock(things.mutex);
  return result == success && !things.events.contains(event) ? invalid_handle : result;
}
STAND_IN cuThreadExchangeStreamCaptureMode(int* mode) {
  std::swap(*mode, capture_mode);
  return result_of("cuThreadExchangeStreamCaptureMode");
}
// For tests.
STAND_IN stand_in_capture(void* stream, int begins) {
  const std::lock_guard lock(things.mutex);
  if (begins) {
    things.captured.insert(stream);
  } else {
    things.captured.erase(stream);
  }
  return success;
}
STAND_IN cuEventCreate(void** event, unsigned) {
  const int result = result_in_context("cuEventCreate");
  if (result != success) return result;
  *event = std::malloc(1);
  const std::lock_guard lock(things.mutex);
  things.events.insert(*event);
  return success;
}
STAND_IN cuEventRecord(void* event, void* stream) {
  const int result = result_in_context("cuEventRecord", stream);
  const std::lock_guard lock(things.mutex);
  return result == success && !things.events.contains(event) ? invalid_handle : result;
}
STAND_IN cuEventDestroy_v2(void* event) {
  const std::lock_guard lock(things.mutex);
  things.events.erase(event);
  std::free(event);
  return result_of("cuEventDestroy_v2");
}
STAND_IN cuEventElapsedTime(float* milliseconds, void*, void*) {
  *milliseconds = 2;
  return result_in_context("cuEventElapsedTime");
}
STAND_IN cuEventQuery(void*) { return result_behind_kernels("cuEventQuery"); }
STAND_IN cuStreamWriteValue32_v2(void* stream, std::uint64_t address, std::uint32_t value, unsigned) {
  const int result = result_in_context("cuStreamWriteValue32_v2", stream);
  if (result == success && !is_stuck) *static_cast<std::uint32_t*>(as_pointer(address)) = value;
  return result;
}
STAND_IN cuModuleUnload(void*) {
  wait_for_kernels();
  return result_in_context("cuModuleUnload");
}
STAND_IN cuModuleGetFunction(void** function, void*, const char*) {
  *function = function;
  return result_in_context("cuModuleGetFunction");
}
STAND_IN cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int threads, std::size_t) {
  *blocks = 1024 / threads;
  return result_in_context("cuOccupancyMaxActiveBlocksPerMultiprocessor");
}
STAND_IN cuFuncGetAttribute(int* value, int attribute, void*) {
  *value = attribute == 0 ? 1024 : 10 * attribute;
  return result_in_context("cuFuncGetAttribute");
}
STAND_IN cuFuncSetAttribute(void*, int, int) { return result_in_context("cuFuncSetAttribute"); }
STAND_IN cuLaunchKernel(void*, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                        unsigned block_z, unsigned, void* stream, void**, void** extra) {
  const int result = result_in_context("cuLaunchKernel", stream);
  if (result == success && is_endless()) is_stuck = true;
  static const std::string& log = *new std::string(variable("STAND_IN_LOG", ""));
  if (result != success || log.empty()) return result;
  const auto* bytes = static_cast<const unsigned char*>(extra[1]);
  const std::size_t size = *static_cast<std::size_t*>(extra[3]);
  std::string text;
  char piece[4];
  for (std::size_t i = 0; i < size; ++i) {
    std::snprintf(piece, sizeof(piece), "%02x", bytes[i]);
    text += piece;
  }
  std::ofstream(log, std::ios::app) << as_number(stream) << ' ' << static_cast<int*>(current_context) - contexts << ' '
                                    << grid_x << ',' << grid_y << ',' << grid_z << ' ' << block_x << ',' << block_y
                                    << ',' << block_z << ' ' << text << '\n';
  return success;
}
STAND_IN cuGetErrorString(int, const char** text) {
  *text = "as the stand-in was told";
  return result_of("cuGetErrorString");
}
STAND_IN cuGetErrorName(int result, const char** name) {
  *name = result == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR";
  return 0;
}

// Machine code is PTX behind a line with its name.
thread_local int link_level = 4;
STAND_IN cuLinkCreate_v2(unsigned count, int* options, void** values, void** link) {
  constexpr int optimisation = 7;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == optimisation) link_level = static_cast<int>(reinterpret_cast<std::size_t>(values[i]));
  }
  *link = new std::string("cubin of " + variable("STAND_IN_CUBINS", "the stand-in") + "\n");
  return result_out_of_capture("cuLinkCreate_v2");
}
STAND_IN cuLinkAddData_v2(void* link, int, void* data, std::size_t bytes, const char*, unsigned, int*, void**) {
  static_cast<std::string*>(link)->append(static_cast<const char*>(data), bytes);
  std::string log;
  const int failure = assemble(static_cast<const char*>(data), link_level, log);
  return failure ? failure : result_out_of_capture("cuLinkAddData_v2");
}
STAND_IN cuLinkComplete(void* link, void** image, std::size_t* bytes) {
  auto* text = static_cast<std::string*>(link);
  *image = text->data();
  *bytes = text->size();
  const int result = result_out_of_capture("cuLinkComplete");
  if (result == success) note_module("link");
  return result;
}
STAND_IN cuLinkDestroy(void* link) {
  delete static_cast<std::string*>(link);
  return result_of("cuLinkDestroy");
}

STAND_IN cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options, void** values) {
  *module = module;
  const std::string text_of_image = static_cast<const char*>(image);
  if (text_of_image.starts_with("cubin of ")) {
    constexpr int no_binary_for_gpu = 209;
    if (!text_of_image.starts_with("cubin of " + variable("STAND_IN_CUBINS", "the stand-in") + "\n")) {
      return no_binary_for_gpu;
    }
    note_module("cubin");
    return result_out_of_capture("cuModuleLoadDataEx");
  }
  note_module("PTX");
  std::string log;
  constexpr int error_log = 5, error_log_bytes = 6, optimisation = 7;
  char* text = nullptr;
  std::size_t bytes = 0;
  int level = 4;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == error_log) text = static_cast<char*>(values[i]);
    if (options[i] == error_log_bytes) bytes = reinterpret_cast<std::size_t>(values[i]);
    if (options[i] == optimisation) level = static_cast<int>(reinterpret_cast<std::size_t>(values[i]));
  }
  const int failure = assemble(static_cast<const char*>(image), level, log);
  if (text && bytes > 0) std::snprintf(text, bytes, "%s", log.c_str());
  return failure ? failure : result_out_of_capture("cuModuleLoadDataEx");
}
