#include "sdk/clang_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "sdk/sdk.h"

namespace metalloid::tool::sdk {
namespace {

using namespace std::string_view_literals;

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> all) {
  return std::ranges::find(all, text) != all.end();
}

// Means nothing here, with what follows it.
bool is_dropped_with_value(std::string_view option) {
  return is_one_of(option,
                   {"-arch", "-isysroot", "-syslibroot", "-compatibility_version", "-current_version", "-target",
                    "-pagezero_size", "-image_base", "-exported_symbols_list", "-unexported_symbols_list",
                    "-multiply_defined", "-seg1addr", "-undefined", "-platform_version", "-macosx_version_min"});
}

bool is_dropped(std::string_view option) {
  static constexpr std::array beginnings = {
      "-mmacosx-version-min="sv, "-mmacos-version-min="sv, "--target="sv,      "-mcpu=apple"sv, "-fmodules"sv,
      "-fcxx-modules"sv,         "-iwithsysroot"sv,        "-fobjc-runtime="sv};
  return is_one_of(option, {"-dead_strip", "-headerpad_max_install_names", "-search_paths_first", "-ObjC", "-no_uuid",
                            "-dead_strip_dylibs", "-bind_at_load", "-prebind", "-single_module", "-no_compact_unwind",
                            "-adhoc_codesign", "-ld_classic", "-ld64", "-fapplication-extension", "-twolevel_namespace",
                            "-flat_namespace", "-no_warn_duplicate_libraries"}) ||
         std::ranges::any_of(beginnings, [&](std::string_view begin) { return option.starts_with(begin); });
}

// Options of Clang whose value is the next argument, and no file to compile.
bool takes_value(std::string_view option) {
  return is_one_of(option, {"-o",
                            "-I",
                            "-D",
                            "-U",
                            "-x",
                            "-L",
                            "-F",
                            "-include",
                            "-isystem",
                            "-MF",
                            "-MT",
                            "-MQ",
                            "-Xclang",
                            "-MJ",
                            "-iquote",
                            "-idirafter",
                            "-imacros",
                            "-T",
                            "-u",
                            "-z",
                            "-e",
                            "-iframework",
                            "-Xassembler",
                            "-Xpreprocessor",
                            "-std",
                            "--param",
                            "-rpath",
                            "-soname",
                            "-working-directory"});
}

bool is_library_of_sdk(std::string_view name) {
  return is_one_of(name, {"objc", "dispatch", "BlocksRuntime", "System", "Metal", "Foundation", "MetalKit",
                          "QuartzCore", "CoreFoundation", "CoreGraphics", "IOKit", "IOSurface"});
}

// "@loader_path/../lib" -> "$ORIGIN/../lib".
std::string run_path(std::string path) {
  for (const std::string_view word : {"@loader_path"sv, "@executable_path"sv, "@rpath"sv}) {
    const std::size_t place = path.find(word);
    if (place != std::string::npos) path.replace(place, word.size(), "$ORIGIN");
  }
  return path;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The arguments in a file, in quotes and with backslashes as Clang reads them.
std::optional<std::vector<std::string>> arguments_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::vector<std::string> all;
  std::string one;
  bool is_inside = false;
  char quote = 0;
  for (std::istreambuf_iterator<char> next(file), end; next != end; ++next) {
    char letter = *next;
    if (letter == '\\' && std::next(next) != end) {
      letter = *++next;
    } else if (quote != 0 ? letter == quote : letter == '"' || letter == '\'') {
      quote = quote != 0 ? 0 : letter;
      is_inside = true;
      continue;
    } else if (quote == 0 && std::isspace(static_cast<unsigned char>(letter)) != 0) {
      if (is_inside) all.push_back(std::exchange(one, {}));
      is_inside = false;
      continue;
    }
    one += letter;
    is_inside = true;
  }
  if (is_inside) all.push_back(one);
  return all;
}

// Takes the options for the linker out of -Wl and -Xlinker, and the arguments out of files.
std::vector<std::string> flattened(const std::vector<std::string>& given) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].starts_with("-Wl,")) {
      for (std::size_t begin = 4; begin <= given[i].size();) {
        const std::size_t end = std::min(given[i].find(',', begin), given[i].size());
        all.push_back("-Xlinker");
        all.push_back(given[i].substr(begin, end - begin));
        begin = end + 1;
      }
    } else if (given[i].starts_with('@')) {
      if (auto inside = arguments_in(given[i].substr(1))) {
        std::ranges::move(flattened(*inside), std::back_inserter(all));
      } else {
        all.push_back(given[i]);
      }
    } else {
      all.push_back(given[i]);
      if (given[i] == "-Xlinker" && i + 1 < given.size()) all.push_back(given[++i]);
    }
  }
  return all;
}

class Translation {
 public:
  Translation(const std::vector<std::string>& given, bool is_cpp, const ClangPlaces& places,
              const std::function<std::string(const std::string&)>& assembly)
      : given_(flattened(given)), is_cpp_(is_cpp), places_(places), assembly_(assembly) {}

  ClangArguments run() {
    while (next_ < given_.size() && refusal_.empty()) take();
    if (refusal_.empty()) finish();
    return {std::move(result_), std::move(refusal_)};
  }

 private:
  // The next argument; of options for the linker without what says that they are.
  std::string next() {
    std::string argument = given_[next_++];
    if (argument == "-Xlinker" && next_ < given_.size()) argument = given_[next_++];
    return argument;
  }
  std::string value() { return next_ < given_.size() ? next() : std::string(); }
  void add(std::string argument) { result_.push_back(std::move(argument)); }
  void add_for_linker(const std::string& argument) {
    add("-Xlinker");
    add(argument);
  }

  void take() {
    const bool is_linkers = given_[next_] == "-Xlinker" && next_ + 1 < given_.size();
    const std::string argument = next();
    if (take_a_macs(argument)) return;
    if (is_linkers) return add_for_linker(argument);
    if (is_one_of(argument, {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"})) links_ = false;
    if (argument.starts_with("-stdlib=")) library_of_cpp_ = argument.substr(std::string_view("-stdlib=").size());
    if (argument == "-fobjc-arc") add("-fobjc-weak");
    if (argument == "-x" && next_ < given_.size()) language_ = given_[next_];
    if (!argument.starts_with('-') || argument == "-") return take_input(argument);
    add(argument);
    if (takes_value(argument) && next_ < given_.size()) add(given_[next_++]);
  }

  bool take_a_macs(const std::string& argument) {
    if (is_one_of(argument, {"-framework", "-weak_framework", "-needed_framework", "-reexport_framework"})) {
      use_framework(value());
    } else if (argument.starts_with("-l") || argument.starts_with("-weak-l")) {
      const std::string name = argument.substr(argument.find('l') + 1);
      if (is_library_of_sdk(name)) {
        uses_sdk_ = true;
      } else if (name == "c++") {
        names_libcpp_ = true;
      } else if (argument.starts_with("-l")) {
        return false;
      } else {
        add("-l" + name);
      }
    } else if (is_one_of(argument, {"-dynamiclib", "-bundle"})) {
      add("-shared");
    } else if (is_one_of(argument, {"-install_name", "-dylib_install_name"})) {
      add_for_linker("-soname");
      add_for_linker(base_name(value()));
    } else if (argument == "-bundle_loader" || is_dropped_with_value(argument)) {
      value();
    } else if (argument == "-rpath" || argument == "-add_rpath") {
      add_for_linker("-rpath");
      add_for_linker(run_path(value()));
    } else if (argument == "-force_load") {
      add_for_linker("--whole-archive");
      add(value());
      add_for_linker("--no-whole-archive");
    } else if (argument == "-all_load") {
      add_for_linker("--whole-archive");
      loads_all_ = true;
    } else if (argument == "-export_dynamic") {
      add("-rdynamic");
    } else if (!is_dropped(argument)) {
      return false;
    }
    return true;
  }

  void use_framework(const std::string& name) {
    const std::string known = name.substr(0, name.find(','));  // Name,suffix
    if (std::ranges::find(frameworks(), known) != frameworks().end()) {
      uses_sdk_ = true;
    } else {
      refusal_ = fmt::format("framework '{}' not found; Metalloid's SDK has {}", known, fmt::join(frameworks(), ", "));
    }
  }

  void take_input(const std::string& path) {
    has_input_ = true;
    const bool is_assembly = (path.ends_with(".s") || path.ends_with(".S")) && language_.empty();
    const std::string instead = is_assembly ? assembly_(path) : std::string();
    if (instead.empty()) return add(path);
    add("-x");
    add(path.ends_with(".S") ? "assembler-with-cpp" : "assembler");
    add(instead);
    add("-x");
    add("none");
  }

  void finish() {
    if (loads_all_) add_for_linker("--no-whole-archive");
    std::vector<std::string> front = {"-fPIC",  // as all code of a Mac is, so that libraries can be made of it
                                      "-fblocks",
                                      "-fobjc-runtime=objfw",
                                      "-fconstant-string-class=NSConstantString",
                                      "-Werror=objc-method-access",
                                      "-Qunused-arguments",
                                      "-F" + places_.frameworks.string(),
                                      "-isystem",
                                      places_.headers.string()};
    if (is_cpp_ && library_of_cpp_.empty()) front.emplace_back("-stdlib=libc++");
    // metal-cpp's objects are `this` of member functions, and messages to nil are calls of these.
    if (is_cpp_) front.emplace_back("-fno-delete-null-pointer-checks");
    result_.insert(result_.begin(), front.begin(), front.end());
    if (!links_ || !has_input_) return;
    const bool is_on_libcpp = names_libcpp_ || (is_cpp_ && (library_of_cpp_.empty() || library_of_cpp_ == "libc++"));
    add("-L" + places_.libraries.string());
    // A library from which only classes are looked up by their names is not needed to the linker.
    add_for_linker(uses_sdk_ || is_on_libcpp ? "--no-as-needed" : "--as-needed");
    add("-lmetalloid_metal");
    add_for_linker("--as-needed");
    if (is_on_libcpp) {
      // Whole within the program, for Debian's shared library may be of an older release than its headers. Functions
      // that libc++ and libstdc++ have by one name (std::current_exception) stay within the program. What throws and
      // catches is libstdc++'s runtime, which is in the process in any case, so that exceptions pass between a program
      // and its libraries: it comes first, or the linker would take libc++'s own. Each has error categories of its own.
      for (const char* one : {"-nostdlib++", "-Wl,--exclude-libs,libc++.a", "-l:libstdc++.so.6", "-Wl,-Bstatic",
                              "-lc++", "-Wl,-Bdynamic"})
        add(one);
    }
    add_for_linker("-rpath");
    add_for_linker(places_.libraries.string());
  }

  std::vector<std::string> given_;
  bool is_cpp_;
  const ClangPlaces& places_;
  const std::function<std::string(const std::string&)>& assembly_;
  std::size_t next_ = 0;
  std::vector<std::string> result_;
  std::string refusal_, language_, library_of_cpp_;
  bool links_ = true, has_input_ = false, uses_sdk_ = false, names_libcpp_ = false, loads_all_ = false;
};

bool is_of_name(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_'; }

}  // namespace

ClangArguments clang_arguments(const std::vector<std::string>& given, bool is_cpp, const ClangPlaces& places,
                               const std::function<std::string(const std::string&)>& assembly) {
  return Translation(given, is_cpp, places, assembly).run();
}

std::string assembly_for_linux(const std::string& source) {
  if (source.find("__DATA,") == std::string::npos && source.find("__TEXT,") == std::string::npos) return source;
  std::string result;
  for (std::size_t begin = 0; begin < source.size();) {
    const std::size_t end = std::min(source.find('\n', begin), source.size());
    std::string line = source.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t comma = line.find(',');
    if (line.find(".section") != std::string::npos && comma != std::string::npos) {
      // .section __DATA,__name[,attributes]
      const std::size_t name_end = std::min(line.find(',', comma + 1), line.size());
      std::string name = line.substr(comma + 1, name_end - comma - 1);
      std::erase_if(name, [](char letter) { return !is_of_name(letter); });
      const bool is_data = line.find("__DATA") != std::string::npos;
      result += name == "__text" ? std::string("\t.text\n")
                                 : fmt::format("\t.section .{},\"{}\"\n", name, is_data ? "aw" : "a");
      continue;
    }
    if (const std::size_t place = line.find(".private_extern"); place != std::string::npos) {
      line.replace(place, std::string_view(".private_extern").size(), ".hidden");
    }
    bool is_quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '"') is_quoted = !is_quoted;
      const bool begins_name = line[i] == '_' && (i == 0 || (!is_of_name(line[i - 1]) && line[i - 1] != '.'));
      if (is_quoted || !begins_name) result += line[i];
    }
    result += '\n';
  }
  return result;
}

}  // namespace metalloid::tool::sdk
