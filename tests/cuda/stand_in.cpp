// A library in place of NVIDIA's driver, for machines without a GPU: $METALLOID_CUDA_DRIVER names it. It has one
// device, whose memory is the host's, and launches nothing. What goes wrong is chosen by variables:
//
//   STAND_IN_DEVICES=0      how many devices there are
//   STAND_IN_VERSION=11040  the driver's version
//   STAND_IN_CAPABILITY=75  the devices' compute capability
//   STAND_IN_FAIL=cuMemAlloc_v2:2   the result of a function; several are separated by commas
//   STAND_IN_PTXAS=ptxas    a program that assembles each module; what it says is the loading's error
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace {

std::string variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value ? value : otherwise;
}

int number(const char* name, int otherwise) {
  return std::atoi(variable(name, std::to_string(otherwise).c_str()).c_str());
}

// What a function is to return; 0 unless STAND_IN_FAIL says otherwise.
int result_of(const std::string& function) {
  const std::string all = "," + variable("STAND_IN_FAIL", "") + ",";
  const std::size_t place = all.find("," + function + ":");
  return place == std::string::npos ? 0 : std::atoi(all.c_str() + place + function.size() + 2);
}

constexpr int invalid_ptx = 218;

// "0" or what the assembler said.
int assemble(const char* ptx, std::string& log) {
  const std::string program = variable("STAND_IN_PTXAS", "");
  if (program.empty()) return 0;
  std::string file = variable("TMPDIR", "/tmp") + "/stand_in_XXXXXX";
  const int descriptor = ::mkstemp(file.data());
  ::close(descriptor);
  std::ofstream(file) << ptx;
  const std::string capability = std::to_string(number("STAND_IN_CAPABILITY", 90));
  const std::string command = program + " -arch=sm_" + capability + " -o /dev/null " + file + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  char piece[256];
  while (std::fgets(piece, sizeof(piece), pipe)) log += piece;
  const int status = ::pclose(pipe);
  ::unlink(file.c_str());
  return status == 0 ? 0 : invalid_ptx;
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
  *value = attribute == 75 ? capability / 10 : attribute == 76 ? capability % 10 : 1;
  return result_of("cuDeviceGetAttribute");
}
STAND_IN cuDevicePrimaryCtxRetain(void** context, int) {
  *context = context;
  return result_of("cuDevicePrimaryCtxRetain");
}
STAND_IN cuCtxSetCurrent(void*) { return result_of("cuCtxSetCurrent"); }
STAND_IN cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
  *address = as_number(std::malloc(bytes));
  return result_of("cuMemAlloc_v2");
}
STAND_IN cuMemAllocManaged(std::uint64_t* address, std::size_t bytes, unsigned) {
  *address = as_number(std::malloc(bytes));
  return result_of("cuMemAllocManaged");
}
STAND_IN cuMemFree_v2(std::uint64_t address) {
  std::free(as_pointer(address));
  return result_of("cuMemFree_v2");
}
STAND_IN cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
  *address = std::malloc(bytes);
  return result_of("cuMemHostAlloc");
}
STAND_IN cuMemsetD8_v2(std::uint64_t to, unsigned char value, std::size_t bytes) {
  std::memset(as_pointer(to), value, bytes);
  return result_of("cuMemsetD8_v2");
}
STAND_IN cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
  std::memcpy(as_pointer(to), from, bytes);
  return result_of("cuMemcpyHtoD_v2");
}
STAND_IN cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
  std::memcpy(to, as_pointer(from), bytes);
  return result_of("cuMemcpyDtoH_v2");
}
STAND_IN cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void*) {
  std::memcpy(as_pointer(to), from, bytes);
  return result_of("cuMemcpyHtoDAsync_v2");
}
STAND_IN cuStreamCreate(void** stream, unsigned) {
  *stream = stream;
  return result_of("cuStreamCreate");
}
STAND_IN cuEventCreate(void** event, unsigned) {
  *event = event;
  return result_of("cuEventCreate");
}
STAND_IN cuEventRecord(void*, void*) { return result_of("cuEventRecord"); }
STAND_IN cuEventQuery(void*) { return result_of("cuEventQuery"); }
STAND_IN cuModuleUnload(void*) { return result_of("cuModuleUnload"); }
STAND_IN cuModuleGetFunction(void** function, void*, const char*) {
  *function = function;
  return result_of("cuModuleGetFunction");
}
STAND_IN cuFuncGetAttribute(int* value, int, void*) {
  *value = 1024;
  return result_of("cuFuncGetAttribute");
}
STAND_IN cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                        void**) {
  return result_of("cuLaunchKernel");
}
STAND_IN cuGetErrorString(int, const char** text) {
  *text = "as the stand-in was told";
  return result_of("cuGetErrorString");
}
STAND_IN cuGetErrorName(int result, const char** name) {
  *name = result == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR";
  return 0;
}

STAND_IN cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options, void** values) {
  *module = module;
  std::string log;
  const int failure = assemble(static_cast<const char*>(image), log);
  constexpr int error_log = 5, error_log_bytes = 6;
  char* text = nullptr;
  std::size_t bytes = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == error_log) text = static_cast<char*>(values[i]);
    if (options[i] == error_log_bytes) bytes = reinterpret_cast<std::size_t>(values[i]);
  }
  if (text && bytes > 0) std::snprintf(text, bytes, "%s", log.c_str());
  return failure ? failure : result_of("cuModuleLoadDataEx");
}
