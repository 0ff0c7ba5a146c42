// Bytes as a command line: each line is an argument of `metalloid`. It does what it says or exits with one of the
// tool's own codes. Everything happens in a folder with one kernel; arguments that name another place are left out.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

// main() of tools/metalloid/main.cpp, which is compiled under this name here.
int metalloid_command_line(int argc, char** argv);

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

constexpr std::string_view kernels = R"(#include <metal_stdlib>
using namespace metal;
constant int factor [[function_constant(0)]];
constant int2 pair [[function_constant(7)]];
struct Params { uint n; float4 v; half h[3]; };
kernel void saxpy(device float* y, device const float* x, constant float& a, uint i [[thread_position_in_grid]]) {
  y[i] = a * x[i] + y[i];
}
kernel void scaled(device int* y [[buffer(3)]], constant Params& p [[buffer(1)]], threadgroup int* t [[threadgroup(0)]],
                   uint i [[thread_position_in_grid]]) {
  if (i < p.n) y[i] = factor * pair.x;
}
)";

const std::vector<std::string>& words() {
  static const std::vector<std::string> all = {"run",
                                               "compile",
                                               "inspect",
                                               "tune",
                                               "bench",
                                               "devices",
                                               "--help",
                                               "--version",
                                               "kernel.metal",
                                               "--kernel",
                                               "saxpy",
                                               "scaled",
                                               "--threads",
                                               "8",
                                               "64,2",
                                               "--group",
                                               "4",
                                               "--arg",
                                               "y=f32[8]=ones",
                                               "x=f32[8]=arange",
                                               "a=0.5",
                                               "f32[8]=normal",
                                               "--print",
                                               "y",
                                               "--constant",
                                               "factor=3",
                                               "0=-1",
                                               "pair=1,2",
                                               "--emit",
                                               "ir",
                                               "asm",
                                               "-o",
                                               "out.npy",
                                               "--threadgroups",
                                               "3x2",
                                               "i32[4,4]=1,2",
                                               "u64:18446744073709551615",
                                               "bf16[2]=1e40",
                                               "x.npy",
                                               "bf16:x.npy",
                                               "--seed",
                                               "1",
                                               "--timeout",
                                               "0.1",
                                               "-std=metal3.1",
                                               "-DX=1",
                                               "-D",
                                               "--device",
                                               "reference",
                                               "--json",
                                               "--threads=8",
                                               "y=x",
                                               "[]",
                                               "f32[0]=zeros",
                                               "-1",
                                               "1e308",
                                               "check",
                                               "x=@y",
                                               "@0+16",
                                               "y=f32[8]=undefined",
                                               "--only",
                                               "race,all",
                                               "--skip",
                                               "out-of-bounds",
                                               "--strict",
                                               "--schedule",
                                               "--suppress",
                                               "*:*.metal:4",
                                               "--sarif",
                                               "-"};
  return all;
}

std::filesystem::path folder;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  setenv("METALLOID_CACHE_DIR", "/dev/null/no-cache", 0);
  setenv("METALLOID_COMPILE_IN_PROCESS", "1", 1);
  setenv("METALLOID_TIMEOUT", "1", 1);
  std::string name = (std::filesystem::temp_directory_path() / "command_line_fuzzer.XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr || ::chdir(name.c_str()) != 0) std::abort();
  folder = name;
  std::atexit([] {
    std::error_code error;
    std::filesystem::remove_all(folder, error);
  });
  std::ofstream("kernel.metal") << kernels;
#if !__has_feature(address_sanitizer)
  // Arrays as large as a command line can ask for: there is not enough memory, which it says.
  const rlimit limit{rlim_t{6} << 30, rlim_t{6} << 30};
  ::setrlimit(RLIMIT_AS, &limit);
#endif
  const rlimit file{rlim_t{16} << 20, rlim_t{16} << 20};
  ::setrlimit(RLIMIT_FSIZE, &file);
  std::signal(SIGXFSZ, SIG_IGN);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> arguments = {"metalloid"};
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string argument(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (argument.find('\0') != std::string::npos) argument.resize(argument.find('\0'));
    if (argument.find('/') == std::string::npos && argument.find("..") == std::string::npos) {
      arguments.push_back(std::move(argument));
    }
  }
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const int code = metalloid_command_line(static_cast<int>(arguments.size()), pointers.data());
  if (code < 0 || code > 4) std::abort();
  // What it wrote, so that every input finds the same.
  for (const auto& entry : std::filesystem::directory_iterator(".")) {
    if (entry.path().filename() != "kernel.metal") std::filesystem::remove_all(entry.path());
  }
  if (std::filesystem::file_size("kernel.metal") != kernels.size()) std::ofstream("kernel.metal") << kernels;
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
  std::minstd_rand generator(seed);
  if (generator() % 3 == 0) return LLVMFuzzerMutate(data, size, max_size);
  // Whole arguments: replaced, added or left out.
  std::vector<std::string> lines;
  std::string text(reinterpret_cast<const char*>(data), size);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  const std::string& word = words()[generator() % words().size()];
  const std::size_t place = lines.empty() ? 0 : generator() % lines.size();
  switch (generator() % 3) {
    case 0:
      if (!lines.empty()) {
        lines[place] = word;
        break;
      }
      [[fallthrough]];
    case 1: lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(place), word); break;
    default:
      if (!lines.empty()) lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(place));
  }
  text.clear();
  for (const std::string& line : lines) text += line + "\n";
  const std::size_t length = std::min(text.size(), max_size);
  std::copy_n(text.begin(), length, reinterpret_cast<char*>(data));
  return length;
}
