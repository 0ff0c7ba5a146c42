#include "ir/passes/fold_function_constants.h"

#include <fmt/format.h>
#include <llvm/ADT/APFloat.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/operations.h"
#include "ir/passes/drop_dead_code.h"
#include "ir/passes/initialisers.h"
#include "metalloid/error.h"

namespace metalloid::ir {
namespace {

using ConstantValue = FunctionConstants::Value;
using Bytes = std::vector<std::uint8_t>;

[[noreturn]] void reject(const FunctionConstantInfo& constant, std::string_view reason) {
  throw Error(ErrorCode::invalid_argument, fmt::format("function constant '{}' (index {}) of type {} {}", constant.name,
                                                       constant.index, constant.type.name, reason));
}

void append(Bytes& bytes, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

void append_floating(Bytes& bytes, const FunctionConstantInfo& constant, double value) {
  const ElementType kind = constant.type.scalar;
  llvm::APFloat number(value);
  bool loses = false;
  const llvm::fltSemantics& semantics = kind == ElementType::float16    ? llvm::APFloat::IEEEhalf()
                                        : kind == ElementType::bfloat16 ? llvm::APFloat::BFloat()
                                                                        : llvm::APFloat::IEEEsingle();
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &loses);
  if (number.isInfinity() && std::isfinite(value)) reject(constant, fmt::format("cannot hold {}", value));
  append(bytes, number.bitcastToAPInt().getZExtValue(), size_of(kind));
}

template <typename Integer>
void append_integer(Bytes& bytes, const FunctionConstantInfo& constant, Integer value) {
  ElementType kind = constant.type.scalar;
  if (kind == ElementType::boolean) return append(bytes, value != 0, 1);
  unsigned bits = 8 * size_of(kind);
  if (bits < 64) {
    // Either reading of the bits is accepted: 255 and -1 are the same uchar.
    std::int64_t lowest = -(std::int64_t{1} << (bits - 1)), highest = (std::int64_t{1} << bits) - 1;
    if (std::cmp_less(value, lowest) || std::cmp_greater(value, highest)) {
      reject(constant, fmt::format("cannot hold {}", value));
    }
  }
  append(bytes, static_cast<std::uint64_t>(value), size_of(kind));
}

template <typename Integer>
void append_element(Bytes& bytes, const FunctionConstantInfo& constant, Integer value) {
  if (is_floating(constant.type.scalar)) return append_floating(bytes, constant, static_cast<double>(value));
  append_integer(bytes, constant, value);
}

template <>
void append_element(Bytes& bytes, const FunctionConstantInfo& constant, double value) {
  if (is_floating(constant.type.scalar)) return append_floating(bytes, constant, value);
  if (value != std::trunc(value) || !(value >= -0x1p63 && value < 0x1p64)) {
    reject(constant, fmt::format("cannot hold {}", value));
  }
  if (value < 0x1p63) return append_integer(bytes, constant, static_cast<std::int64_t>(value));
  append_integer(bytes, constant, static_cast<std::uint64_t>(value));
}

// The value as it lies in memory.
Bytes bytes_of(const FunctionConstantInfo& constant, const ConstantValue& value) {
  if (constant.type.scalar == ElementType::none) reject(constant, "is neither a scalar nor a vector");
  Bytes bytes;
  std::visit(
      [&](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, bool>) {
          if (constant.type.rows != 1) reject(constant, fmt::format("needs {} values", constant.type.rows));
          append_element(bytes, constant, std::int64_t{held});
        } else if constexpr (std::is_arithmetic_v<Held>) {
          if (constant.type.rows != 1) reject(constant, fmt::format("needs {} values", constant.type.rows));
          append_element(bytes, constant, held);
        } else {
          if (held.size() != constant.type.rows) {
            reject(constant, fmt::format("needs {} values, {} given", constant.type.rows, held.size()));
          }
          for (auto element : held) append_element(bytes, constant, element);
        }
      },
      value);
  bytes.resize(constant.type.size);
  return bytes;
}

// "'a' (0), 'b' (1)"
std::string list_constants(const LibraryInfo& library) {
  if (library.function_constants.empty()) return "the library has none";
  std::string text = "the library has ";
  for (std::size_t i = 0; i < library.function_constants.size(); ++i) {
    const FunctionConstantInfo& constant = library.function_constants[i];
    text += fmt::format("{}'{}' (index {})", i ? ", " : "", constant.name, constant.index);
  }
  return text;
}

const ConstantValue* find_value(const FunctionConstantInfo& constant, const FunctionConstants& values) {
  if (auto found = values.by_name().find(constant.name); found != values.by_name().end()) return &found->second;
  if (auto found = values.by_index().find(constant.index); found != values.by_index().end()) return &found->second;
  return nullptr;
}

// Opaque pointers let the global change its type: an array of bytes holds any scalar or vector.
void define(llvm::Module& module, llvm::GlobalVariable& global, llvm::ArrayRef<std::uint8_t> bytes) {
  llvm::Constant* initialiser = llvm::ConstantDataArray::get(module.getContext(), bytes);
  auto* constant =
      new llvm::GlobalVariable(module, initialiser->getType(), /*isConstant=*/true, llvm::GlobalValue::InternalLinkage,
                               initialiser, "", nullptr, llvm::GlobalValue::NotThreadLocal, global.getAddressSpace());
  constant->setAlignment(llvm::Align(16));
  constant->takeName(&global);
  global.replaceAllUsesWith(constant);
  global.eraseFromParent();
}

void answer_defined_queries(llvm::Module& module, const LibraryInfo& library, const FunctionConstants& values) {
  llvm::Function* query = module.getFunction(llvm::StringRef(constant_defined_name));
  if (!query) return;
  llvm::SetVector<llvm::Function*> asking;
  for (llvm::User* user : llvm::make_early_inc_range(query->users())) {
    auto* call = llvm::dyn_cast<llvm::CallBase>(user);
    if (!call) continue;
    llvm::Value* asked = call->getArgOperand(0)->stripPointerCasts();
    bool defined = false;
    for (const FunctionConstantInfo& constant : library.function_constants) {
      if (asked->getName() == constant.symbol) defined = find_value(constant, values) != nullptr;
    }
    asking.insert(call->getFunction());
    call->replaceAllUsesWith(llvm::ConstantInt::get(call->getType(), defined));
    call->eraseFromParent();
  }
  if (query->use_empty()) query->eraseFromParent();
  // `is_function_constant_defined(c) ? c : 3` reads c in a branch that is dead now.
  drop_dead_code(asking.getArrayRef());
}

void define_missing(llvm::Module& module, const LibraryInfo& library, const FunctionConstants& values) {
  for (const FunctionConstantInfo& constant : library.function_constants) {
    llvm::GlobalVariable* global = module.getNamedGlobal(constant.symbol);
    if (global && !find_value(constant, values)) define(module, *global, Bytes(constant.type.size));
  }
}

std::optional<bool> value_of_gate(llvm::Module& module, const std::string& symbol, const LibraryInfo& library,
                                  const FunctionConstants& values) {
  for (const FunctionConstantInfo& constant : library.function_constants) {
    if (constant.symbol != symbol && constant.name != symbol) continue;
    const ConstantValue* value = find_value(constant, values);
    if (!value) return false;
    const Bytes bytes = bytes_of(constant, *value);
    return std::any_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte != 0; });
  }
  llvm::GlobalVariable* global = module.getNamedGlobal(symbol);
  if (global && is_undefined(*global)) return false;
  if (!global || !global->hasInitializer() || !global->getValueType()->isIntegerTy()) return std::nullopt;
  global->setLinkage(llvm::GlobalValue::InternalLinkage);  // select_kernel kept it for this
  auto* number = llvm::dyn_cast<llvm::ConstantInt>(global->getInitializer());
  if (!number) return std::nullopt;
  return !number->isZero();
}

}  // namespace

void check_function_constants(const LibraryInfo& library, const FunctionConstants& values) {
  for (const auto& [name, value] : values.by_name()) {
    bool known = false;
    for (const FunctionConstantInfo& constant : library.function_constants) known |= constant.name == name;
    if (!known && !values.is_lenient()) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("no function constant is named '{}'; {}", name, list_constants(library)));
    }
  }
  for (const auto& [index, value] : values.by_index()) {
    bool known = false;
    for (const FunctionConstantInfo& constant : library.function_constants) known |= constant.index == index;
    if (!known && !values.is_lenient()) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("no function constant has index {}; {}", index, list_constants(library)));
    }
  }
  for (const FunctionConstantInfo& constant : library.function_constants) {
    if (const ConstantValue* value = find_value(constant, values)) bytes_of(constant, *value);
  }
}

void require_function_constants(const KernelModule& kernel, const LibraryInfo& library) {
  for (const FunctionConstantInfo& constant : library.function_constants) {
    std::string through;
    bool is_used = false;
    for (const llvm::GlobalVariable& global : kernel.module->globals()) {
      if (global.use_empty() || undefined_root(global) != constant.symbol) continue;
      is_used = true;
      if (global.getName() != constant.symbol) {
        through = fmt::format(", which '{}' is computed from", llvm::demangle(global.getName()));
      }
    }
    if (!is_used) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("kernel '{}' ({}:{}) needs a value for function constant '{}' (index {}) of type {}{}: "
                            "Metal makes no pipeline without it",
                            kernel.info.name, kernel.info.source_file, kernel.info.source_line, constant.name,
                            constant.index, constant.type.name, through));
  }
}

void fold_function_constants(KernelModule& kernel, const LibraryInfo& library, const FunctionConstants& values) {
  check_function_constants(library, values);
  llvm::Module& module = *kernel.module;
  for (const FunctionConstantInfo& constant : library.function_constants) {
    llvm::GlobalVariable* global = module.getNamedGlobal(constant.symbol);
    if (!global) continue;
    // One without a value stays without: what is left of it in the end is an error (require_function_constants).
    if (const ConstantValue* value = find_value(constant, values)) define(module, *global, bytes_of(constant, *value));
  }
  answer_defined_queries(module, library, values);
  if (values.is_lenient()) define_missing(module, library, values);
  evaluate_initialisers(module);
  for (ArgumentInfo& argument : kernel.info.arguments) {
    if (argument.gate.empty()) continue;
    auto active = value_of_gate(module, argument.gate, library, values);
    if (!active) {
      throw Error(ErrorCode::internal, fmt::format("the function constant '{}' that gates argument '{}' of kernel "
                                                   "'{}' cannot be evaluated",
                                                   argument.gate, argument.name, kernel.info.name));
    }
    argument.is_active = *active;
  }
  for (llvm::GlobalVariable& global : module.globals()) {
    if (global.getAddressSpace() == 2 && global.hasInitializer()) global.setConstant(true);
  }
  // A flag that is off guards what it is handed to as well: `scaled(x, has_scale)`.
  if (reads_undefined(module)) drop_dead_code(module);
}

}  // namespace metalloid::ir
