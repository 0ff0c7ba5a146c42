// `metalloid inspect`: the kernels of a file and what each wants bound, as text or as JSON.
#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "constants.h"
#include "json.h"
#include "metalloid/device.h"
#include "metalloid/error.h"
#include "metalloid/library_outline.h"
#include "options.h"
#include "output.h"
#include "remark.h"
#include "runtime/hardware_facts.h"

namespace metalloid::tool {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view name_of(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::buffer: return "buffer";
    case ArgumentKind::threadgroup_memory: return "threadgroup";
    case ArgumentKind::builtin: return "builtin";
    case ArgumentKind::texture: return "texture";
    case ArgumentKind::sampler: return "sampler";
    case ArgumentKind::tensor: return "tensor";
  }
  return "";
}

constexpr std::string_view name_of(AddressSpace space) {
  switch (space) {
    case AddressSpace::thread: return "thread";
    case AddressSpace::device: return "device";
    case AddressSpace::constant: return "constant";
    case AddressSpace::threadgroup: return "threadgroup";
  }
  return "";
}

std::string_view scalar_name(const TypeInfo& type) {
  return type.scalar == ElementType::none && type.members.empty() ? "" : metalloid::name_of(type.scalar);
}

Json describe(const TypeInfo& type) {
  Json json{{"name", type.name}, {"size", type.size}, {"alignment", type.alignment}};
  if (type.scalar != ElementType::none) json["scalar"] = metalloid::name_of(type.scalar);
  if (type.rows > 1) json["rows"] = type.rows;
  if (type.columns > 1) json["columns"] = type.columns;
  if (type.array_length > 0) json["array_length"] = type.array_length;
  if (type.is_atomic) json["atomic"] = true;
  for (const StructMember& member : type.members) {
    Json entry{{"name", member.name}, {"offset", member.offset}};
    if (!member.type.empty()) entry["type"] = describe(member.type.front());
    json["members"].push_back(entry);
  }
  return json;
}

// As the source writes it; the reflection has the symbol.
std::string gate_name(const ArgumentInfo& argument) {
  char* name = abi::__cxa_demangle(argument.gate.c_str(), nullptr, nullptr, nullptr);
  const std::string result = name ? name : argument.gate;
  std::free(name);
  return result;
}

Json describe(const ArgumentInfo& argument) {
  Json json{{"name", argument.name}, {"kind", name_of(argument.kind)}};
  if (argument.kind == ArgumentKind::builtin) {
    json["attribute"] = metalloid::name_of(argument.builtin);
  } else {
    json["index"] = argument.index;
  }
  if (argument.kind == ArgumentKind::buffer) {
    json["address_space"] = name_of(argument.address_space);
    json["access"] = argument.access == Access::read ? "read" : "read_write";
    json["reference"] = argument.is_reference;
  }
  if (argument.kind == ArgumentKind::tensor) {
    json["address_space"] = name_of(argument.address_space);
    json["extents"] = argument.extents;
  }
  if (!argument.gate.empty()) json["gate"] = gate_name(argument);
  if (!argument.is_active) json["active"] = false;
  json["type"] = describe(argument.type);
  return json;
}

Json describe(const LibraryInfo& info) {
  Json json{{"kernels", Json::array()}, {"function_constants", Json::array()}, {"unsupported", Json::array()}};
  for (const KernelInfo& kernel : info.kernels) {
    Json entry{{"name", kernel.name},
               {"file", kernel.source_file},
               {"line", kernel.source_line},
               {"static_threadgroup_memory", kernel.static_threadgroup_memory},
               {"function_constants", kernel.function_constants},
               {"arguments", Json::array()}};
    if (kernel.max_total_threads_per_threadgroup != 0) {
      entry["max_total_threads_per_threadgroup"] = kernel.max_total_threads_per_threadgroup;
    }
    if (kernel.required_threads_per_threadgroup[0] != 0) {
      entry["required_threads_per_threadgroup"] = kernel.required_threads_per_threadgroup;
    }
    for (const ArgumentInfo& argument : kernel.arguments) entry["arguments"].push_back(describe(argument));
    json["kernels"].push_back(std::move(entry));
  }
  for (const FunctionConstantInfo& constant : info.function_constants) {
    json["function_constants"].push_back(
        {{"name", constant.name}, {"index", constant.index}, {"type", constant.type.name}});
  }
  for (const UnsupportedFunction& function : info.unsupported) {
    json["unsupported"].push_back({{"name", function.name}, {"reason", function.reason}});
  }
  return json;
}

// Which engine takes a kernel, and what was said of it.
struct Taken {
  std::string error;  // of kernels that cannot be compiled without more: function constants
  std::string engine, first_engine;
  std::vector<Remark> remarks;
  std::vector<std::pair<std::string, std::string>> resources;
};

using TakenByName = std::map<std::string, Taken>;

TakenByName compile_all(const Library& library, const std::vector<KernelInfo>& kernels, const Device& device,
                        const FunctionConstants& constants) {
  TakenByName result;
  for (const KernelInfo& info : kernels) {
    Taken& taken = result[info.name];
    taken.first_engine = device.engine();
    try {
      const Kernel kernel = library.kernel(info.name, constants);
      taken.engine = kernel.engine();
      taken.remarks = kernel.remarks();
      constexpr std::uint32_t usual_threads = 256;
      taken.resources =
          runtime::resources_of(kernel, std::min(usual_threads, kernel.max_total_threads_per_threadgroup()));
    } catch (const Error& error) {
      taken.error = error.what();
    }
  }
  return result;
}

void describe(const TakenByName& taken, Json& library) {
  for (Json& kernel : library["kernels"]) {
    const Taken& own = taken.at(kernel["name"]);
    kernel["engine"] = own.engine.empty() ? Json() : Json(own.engine);
    if (!own.error.empty()) kernel["error"] = own.error;
    kernel["remarks"] = Json::array();
    for (const Remark& remark : own.remarks) {
      kernel["remarks"].push_back({{"engine", remark.engine},
                                   {"reason", remark.reason},
                                   {"file", remark.source_file},
                                   {"line", remark.source_line}});
    }
    for (const auto& [name, value] : own.resources) kernel["resources"][name] = value;
  }
}

void print_engine(const Taken& taken) {
  if (!taken.error.empty()) {
    print_result("  engine: none: {}\n", taken.error);
    return;
  }
  const std::string instead = taken.engine == taken.first_engine ? "" : ", not " + taken.first_engine;
  print_result("  engine: {}{}\n", taken.engine, instead);
  for (const Remark& remark : taken.remarks) print_result("    {}\n", remark_text(remark));
  for (const auto& [name, value] : taken.resources) print_result("    {}: {}\n", name, value);
}

void print_members(const TypeInfo& type, int indent) {
  for (const StructMember& member : type.members) {
    if (member.type.empty()) continue;
    const TypeInfo& inner = member.type.front();
    const std::string length = inner.array_length > 0 ? fmt::format("[{}]", inner.array_length) : "";
    const std::string element = inner.name.substr(0, inner.name.find('['));
    print_result("{:{}}+{:<6}{} {}{}\n", "", indent, member.offset, element, member.name, length);
    print_members(inner, indent + 2);
  }
}

void print_argument(const ArgumentInfo& argument) {
  if (argument.kind == ArgumentKind::builtin) {
    print_result("  {:<16}{} {}\n", "", argument.type.name,
                 fmt::format("{} [[{}]]", argument.name, metalloid::name_of(argument.builtin)));
    return;
  }
  const std::string slot = fmt::format("{}({})", name_of(argument.kind), argument.index);
  std::string declaration;
  if (argument.kind == ArgumentKind::buffer || argument.kind == ArgumentKind::threadgroup_memory) {
    const bool read_only_device = argument.access == Access::read && argument.address_space == AddressSpace::device;
    declaration = fmt::format("{}{} {}{} {}", read_only_device ? "const " : "", name_of(argument.address_space),
                              argument.type.name, argument.is_reference ? "&" : "*", argument.name);
  } else if (argument.kind == ArgumentKind::tensor) {
    std::string extents;
    for (const std::int64_t extent : argument.extents) {
      extents += (extents.empty() ? "" : ", ") + (extent < 0 ? std::string("?") : std::to_string(extent));
    }
    declaration = fmt::format("tensor<{} {}, ({})> {}", name_of(argument.address_space), argument.type.name, extents,
                              argument.name);
  } else {
    declaration = fmt::format("{} {}", argument.type.name, argument.name);
  }
  std::string note;
  if (argument.kind == ArgumentKind::texture || argument.kind == ArgumentKind::sampler) note += "  (not supported)";
  if (const auto scalar = scalar_name(argument.type); !scalar.empty() && scalar != "struct") {
    note += fmt::format("  elements {}", scalar);
  } else if (!argument.type.members.empty()) {
    note += fmt::format("  {} bytes", argument.type.size);
  }
  if (!argument.gate.empty()) note += fmt::format("  if {}", gate_name(argument));
  if (!argument.is_active) note += "  (never: its function_constant is false)";
  print_result("  {:<16}{}{}\n", slot, declaration, note);
  print_members(argument.type, 20);
}

void print_library(const LibraryInfo& info, const TakenByName& taken) {
  for (const KernelInfo& kernel : info.kernels) {
    print_result("{}kernel {}\n", &kernel == info.kernels.data() ? "" : "\n", printable_name(kernel.name));
    for (const ArgumentInfo& argument : kernel.arguments) print_argument(argument);
    if (const auto found = taken.find(kernel.name); found != taken.end()) print_engine(found->second);
    if (kernel.static_threadgroup_memory > 0) {
      print_result("  threadgroup memory: {} bytes\n", kernel.static_threadgroup_memory);
    }
    if (kernel.max_total_threads_per_threadgroup > 0) {
      print_result("  at most {} threads per threadgroup\n", kernel.max_total_threads_per_threadgroup);
    }
    if (const auto& required = kernel.required_threads_per_threadgroup; required[0] > 0) {
      print_result("  needs {} x {} x {} threads per threadgroup\n", required[0], required[1], required[2]);
    }
    if (!kernel.function_constants.empty()) {
      print_result("  function constants: {}\n", fmt::join(kernel.function_constants, ", "));
    }
  }
  if (info.kernels.empty()) print_message("the file has no kernels\n");
  if (!info.kernels.empty() && !(info.function_constants.empty() && info.unsupported.empty())) print_result("\n");
  for (const FunctionConstantInfo& constant : info.function_constants) {
    print_result("function constant {}: {} {}\n", constant.index, constant.type.name, constant.name);
  }
  for (const UnsupportedFunction& function : info.unsupported) {
    print_result("not supported: {} ({})\n", printable_name(function.name), function.reason);
  }
}

// Of all kernels; or of those that are named, specialised, without making the others' code.
LibraryInfo info_of(const Library& library, const std::vector<std::string>& named, const FunctionConstants& constants) {
  if (named.empty()) return library.info();
  LibraryInfo info;
  for (const std::string& name : named) info.kernels.push_back(library.kernel(name, constants).info());
  info.function_constants = function_constants_of(library);
  info.unsupported = unsupported_functions_of(library);
  return info;
}

}  // namespace

void add_inspect(CLI::App& app, int& exit_code) {
  struct Settings {
    std::string file;
    bool json = false, engine = false;
    std::string device = "cpu";
    std::vector<std::string> kernels, constants;
    CompilerFlags flags;
  };
  auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand("inspect", "Shows every kernel of a file and what it wants bound");
  command->add_option("FILE", settings->file, "Metal source")->required();
  command->add_flag("--json", settings->json, "Print JSON for programs instead of text");
  command->add_flag("--engine", settings->engine,
                    "Compile every kernel; say which engine takes it, and which lines cost speed or made the device's "
                    "first engine leave it to the next; of devices cuda what the code takes of a GPU");
  command->add_option("--kernel", settings->kernels, "Only this kernel, specialised (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--device", settings->device, "One of `metalloid devices`, for --engine (default: cpu)");
  command->add_option("--constant", settings->constants, "Value of a function constant, for --engine")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  add_compiler_flags(*command, settings->flags);
  command->footer(
      "Examples:\n"
      "  metalloid inspect softmax.metal\n"
      "  metalloid inspect softmax.metal --engine\n"
      "  metalloid inspect attention.metal --engine --kernel attention_128 --constant CAUSAL=true\n"
      "  metalloid inspect softmax.metal --json | jq '.kernels[].name'");
  command->callback([settings, &exit_code] {
    const Device device = Device::named(settings->device);
    const Library library = load_source(device, settings->file, settings->flags);
    const FunctionConstants constants = parse_constants(library, settings->constants);
    const LibraryInfo info = info_of(library, settings->kernels, constants);
    const TakenByName taken = settings->engine ? compile_all(library, info.kernels, device, constants) : TakenByName();
    if (settings->json) {
      Json json = describe(info);
      if (settings->engine) describe(taken, json);
      write_result(to_text(json));
    } else {
      print_library(info, taken);
    }
    exit_code = exit_fine;
  });
}

}  // namespace metalloid::tool
