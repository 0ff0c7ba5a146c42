// `metalloid sdk doctor`: a small program of each kind is built and run.
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "output.h"
#include "sdk/sdk.h"

namespace metalloid::tool::sdk {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kernel = R"(#include <metal_stdlib>
kernel void twice(device float* values, uint i [[thread_position_in_grid]]) { values[i] *= 2; }
)";

// Doubles three numbers; the library is that of the argument.
constexpr std::string_view objective_c = R"(#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
int main(int count, char** arguments) {
  @autoreleasepool {
    NSError* error = nil;
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    NSURL* url = [NSURL fileURLWithPath:[NSString stringWithUTF8String:arguments[1]]];
    id<MTLLibrary> library = [device newLibraryWithURL:url error:&error];
    id<MTLFunction> function = [library newFunctionWithName:@"twice"];
    id<MTLComputePipelineState> state = [device newComputePipelineStateWithFunction:function error:&error];
    if (!state) { fprintf(stderr, "%s\n", [[error localizedDescription] UTF8String]); return 1; }
    float numbers[] = {1, 2, 3};
    id<MTLBuffer> buffer = [device newBufferWithBytes:numbers length:12 options:MTLResourceStorageModeShared];
    id<MTLCommandBuffer> commands = [[device newCommandQueue] commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:state];
    [encoder setBuffer:buffer offset:0 atIndex:0];
    [encoder dispatchThreads:MTLSizeMake(3, 1, 1) threadsPerThreadgroup:MTLSizeMake(3, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    const float* result = (const float*)[buffer contents];
    return result[0] == 2 && result[1] == 4 && result[2] == 6 ? 0 : 1;
  }
}
)";

constexpr std::string_view c = R"(#include <objc/message.h>
#include <objc/runtime.h>
#include <stdio.h>
id MTLCreateSystemDefaultDevice(void);
int main(void) {
  id device = MTLCreateSystemDefaultDevice();
  id name = ((id (*)(id, SEL))objc_msgSend)(device, sel_registerName("name"));
  return ((const char* (*)(id, SEL))objc_msgSend)(name, sel_registerName("UTF8String")) ? 0 : 1;
}
)";

constexpr std::string_view cpp = R"(#include <dispatch/dispatch.h>
#include <atomic>
#include <vector>
int main() {
  std::vector<int> squares(10);
  int* all = squares.data();
  dispatch_apply(10, dispatch_get_global_queue(0, 0), ^(size_t i) { all[i] = int(i * i); });
  return squares[9] == 81 ? 0 : 1;
}
)";

struct Outcome {
  int code;
  std::string output;
};

Outcome run(const std::string& command) {
  Outcome outcome{-1, {}};
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> bytes;
  while (const std::size_t count = std::fread(bytes.data(), 1, bytes.size(), pipe)) {
    outcome.output.append(bytes.data(), count);
  }
  const int status = ::pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return outcome;
}

class Examination {
 public:
  explicit Examination(fs::path place) : place_(std::move(place)) {}

  void write(const char* name, std::string_view text) const { std::ofstream(place_ / name, std::ios::binary) << text; }

  // Each of them in a folder of its own, with the SDK's tools first in the PATH.
  void expect(const std::string& what, const std::string& commands, const std::string& hint = {}) {
    const std::string tools = (folder() / "bin").string();
    const Outcome outcome =
        run(fmt::format("cd '{}' && PATH='{}':\"$PATH\" && export PATH && {}", place_.string(), tools, commands));
    print_result("{:<4} {}\n", outcome.code == 0 ? "ok" : "FAIL", what);
    if (outcome.code == 0) return;
    ++failures_;
    print_result("{}\n", outcome.output.substr(0, 2000));
    if (!hint.empty()) print_result("     {}\n", hint);
  }
  int failures() const { return failures_; }

 private:
  fs::path place_;
  int failures_ = 0;
};

}  // namespace

int examine() {
  std::string pattern = (fs::temp_directory_path() / "metalloid-sdk-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    print_message("metalloid: no temporary folder can be made in {}\n", fs::temp_directory_path().string());
    return 1;
  }
  print_result("SDK   {}\n", folder().string());
  Examination all(pattern);
  all.write("twice.metal", kernel);
  all.write("hello.m", objective_c);
  all.write("hello.c", c);
  all.write("hello.cpp", cpp);
  const char* const clang_hint = "Clang 22 is Debian's package clang-22 (apt.llvm.org has it for older systems)";
  all.expect("clang 22", "metalloid-clang --version | grep -q 'version 22'", clang_hint);
  all.expect("Metal to a library (xcrun metal, metallib)",
             "xcrun -sdk macosx metal -c twice.metal -o twice.air && xcrun metallib twice.air -o twice.metallib");
  all.expect("Objective-C",
             "metalloid-clang hello.m -framework Metal -framework Foundation -o hello_m && "
             "./hello_m twice.metallib");
  all.expect("Objective-C with ARC",
             "metalloid-clang -fobjc-arc hello.m -framework Metal -framework Foundation -o hello_arc && "
             "./hello_arc twice.metallib");
  all.expect("C that sends messages by hand",
             "metalloid-clang hello.c -framework Metal -lobjc -o hello_c && ./hello_c");
  all.expect("C++ with blocks and dispatch", "metalloid-clang++ -std=c++17 hello.cpp -o hello_cpp && ./hello_cpp",
             "C++ of a Mac wants libc++: Debian's package libc++-22-dev (with libc++abi-22-dev)");
  std::error_code ignored;
  fs::remove_all(pattern, ignored);
  return all.failures();
}

}  // namespace metalloid::tool::sdk
