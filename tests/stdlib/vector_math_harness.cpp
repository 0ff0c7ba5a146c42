#include "vector_math_harness.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "engines/cpu_shared/code/machine.h"
#include "engines/simd/math/lower_vector_math.h"
#include "engines/simd/math/rare_lanes.h"
#include "ir/assemble.h"
#include "ir/math/lower_math.h"

namespace metalloid::stdlib_test {
namespace {

// A loop over numbers or vectors, so that what is constant stays in registers.
std::string kernel_text(const std::string& instruction, const std::string& element, MathForm form) {
  const bool is_vector = form == MathForm::vector;
  const std::string type = is_vector ? fmt::format("<{} x {}>", vector_width, element) : element;
  const std::string integers = is_vector ? fmt::format("<{} x i32>", vector_width) : "i32";
  std::string declarations;
  for (const char* name :
       {"acos", "asin", "atan", "cos",  "cosh",  "exp",  "exp10",     "exp2",  "log",       "log10", "log2", "sin",
        "sinh", "tan",  "tanh", "ceil", "floor", "rint", "nearbyint", "round", "roundeven", "trunc", "sqrt"}) {
    declarations += fmt::format("declare {0} @llvm.{1}({0})\n", type, name);
  }
  for (const char* name : {"pow", "atan2"}) {
    declarations += fmt::format("declare {0} @llvm.{1}({0}, {0})\n", type, name);
  }
  return fmt::format(R"(
{2}
declare {3} @llvm.fma({3}, {3}, {3})
declare {3} @llvm.ldexp({3}, {4})
declare {3} @llvm.powi({3}, i32)
define void @kernel(ptr noalias %xs, ptr noalias %ys, ptr noalias %zs, ptr noalias %rs, i64 %count) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %px = getelementptr {0}, ptr %xs, i64 %i
  %py = getelementptr {0}, ptr %ys, i64 %i
  %pz = getelementptr {0}, ptr %zs, i64 %i
  %pr = getelementptr {0}, ptr %rs, i64 %i
  %x = load {3}, ptr %px, align 2
  %y = load {3}, ptr %py, align 2
  %z = load {3}, ptr %pz, align 2
  %k = load {4}, ptr %py, align 2
  %n = load i32, ptr %py, align 2
  %r = {1}
  store {3} %r, ptr %pr, align 2
  %next = add i64 %i, {5}
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %end
end:
  ret void
}}
)",
                     element, instruction, declarations, type, integers, is_vector ? vector_width : 1);
}

}  // namespace

std::vector<std::string> runnable_processors() {
  std::vector<std::string> names = {""};
#if defined(__x86_64__)
  names.emplace_back("x86-64");
  if (__builtin_cpu_supports("sse4.2")) names.emplace_back("nehalem");
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) names.emplace_back("haswell");
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) names.emplace_back("skylake-avx512");
#endif
  return names;
}

bool has_conversions_of_half(const std::string& processor) {
#if defined(__x86_64__)
  return processor == "haswell" || processor == "skylake-avx512" ||
         (processor.empty() && __builtin_cpu_supports("f16c"));
#else
  return true;
#endif
}

MathFunction::MathFunction(const std::string& instruction, const std::string& type, MathForm math_form,
                           const std::string& processor) {
  KernelInfo info;
  info.name = info.symbol = "kernel";
  std::string object, assembly;
  const auto machine = processor.empty() ? engines::cpu::make_machine() : engines::cpu::make_machine(processor);
  for (const engines::CodeForm form : {engines::CodeForm::text, engines::CodeForm::loadable}) {
    ir::print_transformed(kernel_text(instruction, type, math_form), info,
                          [&](ir::KernelModule& kernel, llvm::Function&) {
                            engines::cpu::retarget(*kernel.module, *machine);
                            if (math_form == MathForm::vector) {
                              engines::simd::lower_vector_math(*kernel.module, *machine);
                            } else {
                              ir::math::MathHardware hardware = engines::simd::math_hardware(*machine);
                              hardware.scaling = false;  // an instruction of vectors
                              ir::math::lower_math(*kernel.module, hardware, ir::math::MathForms::vectors_and_scalars);
                            }
                            engines::cpu::optimise(*kernel.module, *machine);
                            (form == engines::CodeForm::text ? assembly : object) =
                                engines::cpu::emit(*kernel.module, *machine, form, instruction);
                          });
  }
  for (std::size_t call = 0; (call = assembly.find("@PLT", call)) != std::string::npos; ++call) {
    const std::size_t name = assembly.find_last_of(" \t", call) + 1;
    const std::string callee = assembly.substr(name, call - name);
    if (math_form == MathForm::scalar || !engines::simd::vector_math_symbol(callee))
      throw std::runtime_error(instruction + " calls " + callee);
  }
  code_ = std::make_unique<engines::cpu::LoadedCode>(object, engines::simd::vector_math_symbol);
  entry_ = reinterpret_cast<decltype(entry_)>(code_->find("kernel"));
}

void MathFunction::run(const void* x, const void* y, const void* z, void* results, std::size_t count) const {
  entry_(x, y, z, results, count);
}

}  // namespace metalloid::stdlib_test
