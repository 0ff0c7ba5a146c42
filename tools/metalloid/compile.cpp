// `metalloid compile`: checks a file, or shows what it compiles to.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "argument.h"
#include "constants.h"
#include "files.h"
#include "metalloid/device.h"
#include "metalloid/emit.h"
#include "metalloid/library_outline.h"
#include "options.h"
#include "output.h"
#include "runtime/hardware_facts.h"

namespace metalloid::tool {
namespace {

struct CompileSettings {
  std::string file;
  std::string output;
  std::string emit;
  std::string kernel;
  std::string device = "cpu";
  std::vector<std::string> constants;
  CompilerFlags flags;
};

constexpr std::string_view cubin_suffix = ".cubin";

bool is_cubin(const CompileSettings& settings) {
  return settings.emit == "cubin" || (settings.emit.empty() && settings.output.ends_with(cubin_suffix));
}

void check_emit(const Device& device, const CompileSettings& settings) {
  const bool is_ptx = settings.emit == "ptx" || (settings.emit.empty() && settings.output.ends_with(".ptx"));
  if (!is_ptx && !is_cubin(settings)) return;
  if (runtime::has_assembler(device)) return;
  throw UsageError(fmt::format("--emit {} is for devices 'cuda', not '{}'", is_ptx ? "ptx" : "cubin", device.name()));
}

// From --emit, else from the output's suffix, else nothing: the file is only checked.
std::optional<Emit> wanted(const CompileSettings& settings) {
  const std::string suffix = std::filesystem::path(settings.output).extension();
  if (settings.emit == "ir" || (settings.emit.empty() && suffix == ".ll")) return Emit::ir;
  const bool is_text = settings.emit == "asm" || settings.emit == "ptx";
  if (is_text || (settings.emit.empty() && (suffix == ".s" || suffix == ".ptx"))) return Emit::assembly;
  if (is_cubin(settings) || settings.emit == "obj" || (settings.emit.empty() && suffix == ".o")) return Emit::object;
  if (!settings.output.empty()) {
    throw UsageError("-o needs --emit ir|asm|obj|ptx|cubin, or a name that ends in .ll, .s, .o, .ptx or .cubin");
  }
  return std::nullopt;
}

std::string emit_all(const Library& library, Emit form, const CompileSettings& settings) {
  const FunctionConstants constants = parse_constants(library, settings.constants);
  if (!settings.kernel.empty()) return emit(library, settings.kernel, form, constants);
  if (form == Emit::ir) return emit_library(library);
  const std::vector<std::string> kernels = library.kernel_names();
  if (form == Emit::object && kernels.size() != 1) {
    throw UsageError(fmt::format("--emit {} writes one kernel and this file has {}; choose with --kernel: {}",
                                 is_cubin(settings) ? "cubin" : "obj", kernels.size(), fmt::join(kernels, ", ")));
  }
  std::string text;
  for (const std::string& kernel : kernels) text += emit(library, kernel, form, constants);
  return text;
}

int compile(const CompileSettings& settings) {
  const std::optional<Emit> form = wanted(settings);
  const Device device = Device::named(settings.device);
  check_emit(device, settings);
  const Library library = load_source(device, settings.file, settings.flags);
  for (const UnsupportedFunction& function : unsupported_functions_of(library)) {
    print_message("{}: note: '{}' is not supported: {}\n", shortened(settings.file), printable_name(function.name),
                  function.reason);
  }
  if (!form) {
    (void)library.info();  // reports what is wrong inside of templates too
    for (const std::string& kernel : library.kernel_names()) print_result("{}\n", printable_name(kernel));
    if (library.kernel_names().empty())
      print_message("{}: note: it compiles and has no kernels\n", shortened(settings.file));
    return exit_fine;
  }
  std::string code = emit_all(library, *form, settings);
  if (is_cubin(settings)) code = runtime::machine_code_of(device, code);
  if (settings.output.empty() || settings.output == "-") {
    if (*form == Emit::object && isatty(STDOUT_FILENO) != 0) {
      throw UsageError("an object file is not for a terminal; name a file with -o");
    }
    write_raw_result(code);
    return exit_fine;
  }
  OutputFile file(settings.output);
  file.write(code);
  file.finish();
  return exit_fine;
}

}  // namespace

void add_compile(CLI::App& app, int& exit_code) {
  auto settings = std::make_shared<CompileSettings>();
  CLI::App* command = app.add_subcommand("compile", "Checks a file, or shows what it compiles to");
  command->add_option("FILE", settings->file, "Metal source")->required();
  command->add_option("-o", settings->output, "Write there instead of to stdout")->type_name("OUT");
  command
      ->add_option("--emit", settings->emit,
                   "ir: LLVM IR; asm: assembly; obj: an object file; of devices cuda ptx: the assembly, cubin: what "
                   "NVIDIA's driver "
                   "makes of it (default: by OUT's suffix, else only check)")
      ->check(CLI::IsMember({"ir", "asm", "obj", "ptx", "cubin"}));
  command->add_option("--kernel", settings->kernel, "Only this kernel, specialised (ir: all, before specialisation)");
  command->add_option("--constant", settings->constants, "Value of a function constant")
      ->type_name("NAME_OR_INDEX=VALUE")
      ->allow_extra_args(false);
  command->add_option("--device", settings->device, "One of `metalloid devices` (default: cpu)");
  add_compiler_flags(*command, settings->flags);
  command->footer(
      "Without --emit or -o, prints the kernels' names if the file compiles.\n\n"
      "Examples:\n"
      "  metalloid compile kernel.metal\n"
      "  metalloid compile kernel.metal -std=metal3.1 -DROWS=4 -Iinclude\n"
      "  metalloid compile kernel.metal --emit asm --kernel softmax\n"
      "  metalloid compile kernel.metal --kernel softmax -o softmax.o");
  command->callback([settings, &exit_code] { exit_code = compile(*settings); });
}

}  // namespace metalloid::tool
