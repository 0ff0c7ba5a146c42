#include "frontend/kernel_arguments.h"

#include <set>

#include <clang/AST/DeclCXX.h>
#include <clang/Basic/Diagnostic.h>

#include "frontend/annotations.h"
#include "frontend/tensor_type.h"
#include "frontend/types.h"

namespace metalloid::frontend {
namespace {

constexpr unsigned max_index[] = {max_buffer_arguments - 1, max_buffer_arguments - 1};

Builtin builtin_named(llvm::StringRef name) {
  for (int i = 1; i <= static_cast<int>(Builtin::thread_index_in_grid); ++i) {
    const auto builtin = static_cast<Builtin>(i);
    const std::string_view spelling = name_of(builtin);
    if (name == llvm::StringRef(spelling.data(), spelling.size())) return builtin;
  }
  return Builtin::none;
}

// Positions and sizes may be vectors; indices and counts are scalars (MSL spec table 5.8).
bool allows_vector(Builtin builtin) {
  switch (builtin) {
    case Builtin::thread_position_in_grid:
    case Builtin::thread_position_in_threadgroup:
    case Builtin::threadgroup_position_in_grid:
    case Builtin::threads_per_grid:
    case Builtin::threads_per_threadgroup:
    case Builtin::dispatch_threads_per_threadgroup:
    case Builtin::threadgroups_per_grid:
    case Builtin::grid_origin:
    case Builtin::grid_size: return true;
    default: return false;
  }
}

class ArgumentReader {
 public:
  ArgumentReader(clang::ASTContext& context, const clang::FunctionDecl& kernel)
      : context_(context), kernel_(kernel), diagnostics_(context.getDiagnostics()) {}

  std::vector<KernelArgument> read() {
    std::vector<KernelArgument> arguments;
    std::vector<bool> is_explicit;
    for (const clang::ParmVarDecl* parameter : kernel_.parameters()) {
      bool has_index = false;
      arguments.push_back(read_parameter(*parameter, has_index));
      is_explicit.push_back(has_index);
    }
    assign_indices(arguments, is_explicit);
    return arguments;
  }

 private:
  template <unsigned N>
  clang::DiagnosticBuilder error(clang::SourceLocation location, const char (&text)[N]) {
    return diagnostics_.Report(location, diagnostics_.getCustomDiagID(clang::DiagnosticsEngine::Error, text));
  }

  KernelArgument read_parameter(const clang::ParmVarDecl& parameter, bool& has_index) {
    KernelArgument argument;
    ArgumentInfo& info = argument.info;
    info.name = parameter.getNameAsString();
    const clang::QualType type = parameter.getType().getCanonicalType();
    if (const auto* gate = find_annotation(parameter, "gate")) {
      argument.gate = find_gate(string_argument(*gate).value_or(""));
      if (!argument.gate) {
        error(parameter.getLocation(), "'function_constant' attribute of argument %0 names no function constant")
            << parameter.getDeclName();
      }
    }
    if (type->isPointerType() || type->isReferenceType()) {
      read_pointer(parameter, type->getPointeeType(), type->isReferenceType(), info, has_index);
    } else if (const auto tensor = tensor_type(type)) {
      read_tensor(parameter, *tensor, info, has_index);
    } else {
      read_value(parameter, type, info);
    }
    return argument;
  }

  void read_pointer(const clang::ParmVarDecl& parameter, clang::QualType pointee, bool is_reference, ArgumentInfo& info,
                    bool& has_index) {
    info.is_reference = is_reference;
    info.type = describe_type(context_, pointee);
    info.access = pointee.isConstQualified() ? Access::read : Access::read_write;
    if (const auto* array = context_.getAsArrayType(pointee)) {
      if (array->getElementType().isConstQualified()) info.access = Access::read;
    }
    const char* attribute = "buffer";
    switch (pointee.getAddressSpace()) {
      case clang::LangAS::opencl_global: info.address_space = AddressSpace::device; break;
      case clang::LangAS::opencl_constant:
        info.address_space = AddressSpace::constant;
        info.access = Access::read;
        break;
      case clang::LangAS::opencl_local:
        info.address_space = AddressSpace::threadgroup;
        info.kind = ArgumentKind::threadgroup_memory;
        attribute = "threadgroup";
        break;
      default:
        error(parameter.getLocation(),
              "pointer or reference argument %0 of a kernel must have the address space device, constant or "
              "threadgroup")
            << parameter.getDeclName();
        return;
    }
    read_index(parameter, attribute, info, has_index);
  }

  void read_index(const clang::ParmVarDecl& parameter, const char* attribute, ArgumentInfo& info, bool& has_index) {
    if (const auto* annotation = find_annotation(parameter, attribute)) {
      if (const auto index = integer_argument(context_, *annotation)) {
        info.index = *index;
        has_index = true;
        if (*index > max_index[0]) {
          error(parameter.getLocation(), "'%0' attribute parameter is out of bounds: must be between 0 and %1")
              << attribute << max_index[0];
        }
      }
    }
  }

  void read_tensor(const clang::ParmVarDecl& parameter, const TensorType& tensor, ArgumentInfo& info, bool& has_index) {
    info.kind = ArgumentKind::tensor;
    info.type = describe_type(context_, tensor.element);
    info.extents = tensor.extents;
    info.access = tensor.element.isConstQualified() ? Access::read : Access::read_write;
    const clang::LangAS space = tensor.element.getAddressSpace();
    if (!tensor.is_handle) {
      error(parameter.getLocation(), "tensor argument %0 of a kernel must be a tensor_handle")
          << parameter.getDeclName();
    } else if (space != clang::LangAS::opencl_global && space != clang::LangAS::opencl_constant) {
      error(parameter.getLocation(), "the elements of tensor argument %0 must be in address space device or constant")
          << parameter.getDeclName();
    }
    if (space == clang::LangAS::opencl_constant) {
      info.address_space = AddressSpace::constant;
      info.access = Access::read;
    }
    read_index(parameter, "buffer", info, has_index);
  }

  void read_value(const clang::ParmVarDecl& parameter, clang::QualType type, ArgumentInfo& info) {
    info.type = describe_type(context_, type);
    info.address_space = AddressSpace::thread;
    info.access = Access::read;
    info.kind = ArgumentKind::builtin;
    for (const llvm::StringRef name : annotation_names(parameter)) {
      info.builtin = builtin_named(name);
      if (info.builtin != Builtin::none) break;
    }
    if (info.builtin == Builtin::none) {
      const auto names = annotation_names(parameter);
      if (names.empty()) {
        error(parameter.getLocation(),
              "argument %0 of type '%1' needs an attribute, or an address space and a pointer or reference")
            << parameter.getDeclName() << info.type.name;
      } else {
        error(parameter.getLocation(), "attribute '%0' is not one that an argument of type '%1' of a kernel can have")
            << names.front() << info.type.name;
      }
      return;
    }
    const bool is_word = info.type.scalar == ScalarKind::uint16 || info.type.scalar == ScalarKind::uint32;
    const bool shape_fits = info.type.columns == 1 && info.type.array_length == 0 && !info.type.is_atomic &&
                            (info.type.rows == 1 || (allows_vector(info.builtin) && info.type.rows <= 3));
    if (!is_word || !shape_fits) {
      error(parameter.getLocation(), "type '%0' is not valid for attribute '%1'")
          << info.type.name << llvm::StringRef(name_of(info.builtin));
    }
  }

  // An argument without an index takes the first free one of its class, in order (MSL spec §5.2).
  void assign_indices(std::vector<KernelArgument>& arguments, const std::vector<bool>& is_explicit) {
    std::set<unsigned> used[2];
    const auto class_of = [](const ArgumentInfo& info) {
      return info.kind == ArgumentKind::threadgroup_memory ? 1 : 0;
    };
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const ArgumentInfo& info = arguments[i].info;
      if (info.kind == ArgumentKind::builtin || !is_explicit[i]) continue;
      // Two arguments may share an index if function constants keep them apart.
      if (!used[class_of(info)].insert(info.index).second && !arguments[i].gate) {
        error(kernel_.getParamDecl(i)->getLocation(), "cannot reserve '%0' resource location at index %1")
            << (class_of(info) == 0 ? "buffer" : "threadgroup") << info.index;
      }
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      ArgumentInfo& info = arguments[i].info;
      if (info.kind == ArgumentKind::builtin || is_explicit[i]) continue;
      auto& taken = used[class_of(info)];
      unsigned index = 0;
      while (taken.count(index)) ++index;
      taken.insert(index);
      info.index = index;
      if (index > max_index[0]) {
        error(kernel_.getParamDecl(i)->getLocation(), "more than %0 buffer arguments") << max_buffer_arguments;
      }
    }
  }

  // The variable that `name` (perhaps qualified) means where the kernel is declared.
  const clang::VarDecl* find_gate(llvm::StringRef name) {
    llvm::SmallVector<llvm::StringRef> parts;
    name.split(parts, "::", -1, /*KeepEmpty=*/false);
    if (parts.empty()) return nullptr;
    const clang::DeclContext* scope = kernel_.getDeclContext();
    for (; scope; scope = scope->getParent()) {
      const clang::DeclContext* inner = scope;
      for (std::size_t i = 0; i + 1 < parts.size() && inner; ++i) {
        const auto found = inner->lookup(&context_.Idents.get(parts[i]));
        inner = found.empty() ? nullptr : llvm::dyn_cast<clang::DeclContext>(found.front());
      }
      if (!inner) continue;
      for (const clang::NamedDecl* candidate : inner->lookup(&context_.Idents.get(parts.back()))) {
        if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(candidate)) return variable;
      }
    }
    return nullptr;
  }

  clang::ASTContext& context_;
  const clang::FunctionDecl& kernel_;
  clang::DiagnosticsEngine& diagnostics_;
};

}  // namespace

std::vector<KernelArgument> reflect_arguments(clang::ASTContext& context, const clang::FunctionDecl& kernel) {
  return ArgumentReader(context, kernel).read();
}

}  // namespace metalloid::frontend
