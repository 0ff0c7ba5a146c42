// How generated sources register kernels: as TORCH_LIBRARY_IMPL does, but with less to compile.
//
// For each signature, and there are hundreds, torch's templates make a class, an inferred schema, and a boxed kernel
// (one that takes its arguments from the interpreter's stack) with the conversions of all its arguments inlined. Here a
// signature has two functions, and conversions are one function per type. Unboxed calls, which is what programs do,
// stay what they are.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/util/StringUtil.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace metalloid::torch_registrations {

// A kernel as the dispatcher keeps it. The class has no parameters; the functions that call it know its signature.
class Kernel final : public c10::OperatorKernel {
 public:
  explicit Kernel(void (*function)()) : function_(function) {}

  template <class Result, class... Arguments>
  static Result call(c10::OperatorKernel* kernel, Arguments... arguments) {
    auto* function = reinterpret_cast<Result (*)(Arguments...)>(static_cast<Kernel*>(kernel)->function_);
    return function(std::forward<Arguments>(arguments)...);
  }

 private:
  void (*function_)();
};

// Names a signature for KernelFunction; there are no objects of it.
template <class Signature>
class Signed;
template <class Result, class... Arguments>
class Signed<Result(Arguments...)> : public c10::OperatorKernel {
 public:
  Result operator()(Arguments... arguments);
};

template <class Argument>
[[gnu::noinline]] decltype(auto) from_stack(c10::IValue& value) {
  return c10::impl::ivalue_to_arg<typename c10::impl::decay_if_not_tensor<Argument>::type, false>::call(value);
}

[[gnu::noinline]] inline void drop(c10::Stack& stack, std::size_t count) { torch::jit::drop(stack, count); }

template <class Result>
[[gnu::noinline]] void push(c10::Stack& stack, Result&& result) {
  stack.push_back(c10::impl::return_to_ivalue<Result, false>::call(std::move(result)));
}

template <class... Results>
void push(c10::Stack& stack, std::tuple<Results...>&& results) {
  std::apply([&](Results&... each) { (push<Results>(stack, std::move(each)), ...); }, results);
}

// What a kernel returns, without references: c10::impl::decay_if_tuple_t, which torch 2.10 does not have yet.
template <class Result>
struct Decayed {
  using type = std::decay_t<Result>;
};
template <class... Results>
struct Decayed<std::tuple<Results...>> {
  using type = std::tuple<std::decay_t<Results>...>;
};

template <class Result, class... Arguments, std::size_t... Indices>
void call_boxed(c10::OperatorKernel* kernel, c10::Stack& stack, std::index_sequence<Indices...> /*of Arguments*/) {
  [[maybe_unused]] c10::IValue* first = stack.data() + (stack.size() - sizeof...(Arguments));
  if constexpr (std::is_void_v<Result>) {
    Kernel::call<Result, Arguments...>(kernel, from_stack<Arguments>(first[Indices])...);
    drop(stack, sizeof...(Arguments));
  } else {
    // References are to arguments, which drop() takes away.
    typename Decayed<Result>::type result =
        Kernel::call<Result, Arguments...>(kernel, from_stack<Arguments>(first[Indices])...);
    drop(stack, sizeof...(Arguments));
    push(stack, std::move(result));
  }
}

// The kernels that a source registers for one dispatch key, for as long as its library is loaded.
class Registrations {
 public:
  Registrations(const char* space, c10::DispatchKey key, const char* file, void (*add)(Registrations&))
      : space_(space), key_(key), file_(file) {
    add(*this);
  }

  // Name: without the namespace, "add.Tensor".
  template <class Result, class... Arguments>
  void impl(const char* name, Result (*kernel)(Arguments...)) {
    using Signature = Result(Arguments...);
    add(name, reinterpret_cast<void (*)()>(kernel),
        &c10::KernelFunction::makeFromUnboxedFunctor<false, Signed<Signature>>,
        c10::impl::CppSignature::make<Signature>());
  }

 private:
  using Make = c10::KernelFunction (*)(std::unique_ptr<c10::OperatorKernel>);

  [[gnu::noinline]] void add(const std::string& name, void (*kernel)(), Make make, c10::impl::CppSignature signature) {
    const std::size_t dot = name.find('.');
    c10::OperatorName full(space_ + "::" + name.substr(0, dot), dot == std::string::npos ? "" : name.substr(dot + 1));
    handles_.push_back(c10::Dispatcher::singleton().registerImpl(std::move(full), key_,
                                                                 make(std::make_unique<Kernel>(kernel)), signature,
                                                                 nullptr, c10::str("registered in ", file_)));
  }

  std::string space_;
  c10::DispatchKey key_;
  const char* file_;
  std::vector<c10::RegistrationHandleRAII> handles_;
};

}  // namespace metalloid::torch_registrations

// What KernelFunction::makeFromUnboxedFunctor takes for a Signed, in the place of torch's own.
namespace c10::impl {

template <class Result, class... Arguments>
struct make_boxed_from_unboxed_functor<metalloid::torch_registrations::Signed<Result(Arguments...)>, false> final {
  static void call(OperatorKernel* kernel, const OperatorHandle& /*op*/, DispatchKeySet /*keys*/, Stack* stack) {
    metalloid::torch_registrations::call_boxed<Result, Arguments...>(kernel, *stack,
                                                                     std::index_sequence_for<Arguments...>());
  }
};

template <class Result, class... Arguments>
struct wrap_kernel_functor_unboxed_<metalloid::torch_registrations::Signed<Result(Arguments...)>, Result(Arguments...)>
    final {
  static Result call(OperatorKernel* kernel, DispatchKeySet /*keys*/, Arguments... arguments) {
    return metalloid::torch_registrations::Kernel::call<Result, Arguments...>(kernel,
                                                                              std::forward<Arguments>(arguments)...);
  }
};

}  // namespace c10::impl
