// Type traits (as in C++17's <type_traits>, plus address spaces) and compile-time sequences.
#ifndef METALLOID_TYPE_TRAITS_H
#define METALLOID_TYPE_TRAITS_H

#include <metalloid/types.h>

class bfloat;

namespace metal {
template <typename T, int N>
class vec;
}  // namespace metal

namespace metal {

template <typename T, T v>
struct integral_constant {
  static constexpr constant T value = v;
  using value_type = T;
  using type = integral_constant;
  METALLOID_FUNC constexpr operator value_type() const { return v; }
  METALLOID_FUNC constexpr value_type operator()() const { return v; }
};

template <bool b>
using bool_constant = integral_constant<bool, b>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <bool condition, typename T = void>
struct enable_if {};
template <typename T>
struct enable_if<true, T> {
  using type = T;
};
template <bool condition, typename T = void>
using enable_if_t = typename enable_if<condition, T>::type;

template <bool condition, typename A, typename B>
struct conditional {
  using type = A;
};
template <typename A, typename B>
struct conditional<false, A, B> {
  using type = B;
};
template <bool condition, typename A, typename B>
using conditional_t = typename conditional<condition, A, B>::type;

// Transformations. Names end in _t as in C++.
#define METALLOID_TRANSFORM(name, builtin) \
  template <typename T>                    \
  struct name {                            \
    using type = builtin(T);               \
  };                                       \
  template <typename T>                    \
  using name##_t = typename name<T>::type;

METALLOID_TRANSFORM(remove_cv, __remove_cv)
METALLOID_TRANSFORM(remove_const, __remove_const)
METALLOID_TRANSFORM(remove_volatile, __remove_volatile)
METALLOID_TRANSFORM(remove_reference, __remove_reference_t)
METALLOID_TRANSFORM(remove_pointer, __remove_pointer)
METALLOID_TRANSFORM(remove_extent, __remove_extent)
METALLOID_TRANSFORM(remove_all_extents, __remove_all_extents)
METALLOID_TRANSFORM(add_pointer, __add_pointer)
METALLOID_TRANSFORM(add_lvalue_reference, __add_lvalue_reference)
METALLOID_TRANSFORM(add_rvalue_reference, __add_rvalue_reference)
METALLOID_TRANSFORM(decay, __decay)
METALLOID_TRANSFORM(underlying_type, __underlying_type)
METALLOID_TRANSFORM(make_signed, __make_signed)
METALLOID_TRANSFORM(make_unsigned, __make_unsigned)
#undef METALLOID_TRANSFORM

template <typename T>
struct add_const {
  using type = const T;
};
template <typename T>
using add_const_t = typename add_const<T>::type;
template <typename T>
struct add_volatile {
  using type = volatile T;
};
template <typename T>
using add_volatile_t = typename add_volatile<T>::type;
template <typename T>
struct add_cv {
  using type = const volatile T;
};
template <typename T>
using add_cv_t = typename add_cv<T>::type;

// Takes the address space (and nothing else) off a type, off the referred type of a reference, off nothing below
// a pointer.
template <typename T>
struct remove_addrspace {
  using type = T;
};
template <typename T>
struct remove_addrspace<device T> {
  using type = T;
};
template <typename T>
struct remove_addrspace<constant T> {
  using type = T;
};
template <typename T>
struct remove_addrspace<threadgroup T> {
  using type = T;
};
// What a temporary's type is deduced as.
template <typename T>
struct remove_addrspace<__attribute__((opencl_private)) T> {
  using type = T;
};
template <typename T>
struct remove_addrspace<const __attribute__((opencl_private)) T> {
  using type = const T;
};
template <typename T>
struct remove_addrspace<const device T> {
  using type = const T;
};
template <typename T>
struct remove_addrspace<const constant T> {
  using type = const T;
};
template <typename T>
struct remove_addrspace<const threadgroup T> {
  using type = const T;
};
template <typename T>
struct remove_addrspace<volatile device T> {
  using type = volatile T;
};
template <typename T>
struct remove_addrspace<volatile threadgroup T> {
  using type = volatile T;
};
template <typename T>
struct remove_addrspace<const volatile device T> {
  using type = const volatile T;
};
template <typename T>
struct remove_addrspace<const volatile threadgroup T> {
  using type = const volatile T;
};
template <typename T>
struct remove_addrspace<T&> {
  using type = typename remove_addrspace<T>::type&;
};
template <typename T>
struct remove_addrspace<T&&> {
  using type = typename remove_addrspace<T>::type&&;
};
template <typename T>
using remove_addrspace_t = typename remove_addrspace<T>::type;

template <typename T>
struct remove_cvref {
  using type = __remove_cvref(T);
};
template <typename T>
using remove_cvref_t = typename remove_cvref<T>::type;

template <typename T>
typename add_rvalue_reference<T>::type declval();

// Unary predicates: a struct with ::value, and a variable template name_v.
#define METALLOID_PREDICATE(name, ...)           \
  template <typename T>                          \
  struct name : bool_constant<(__VA_ARGS__)> {}; \
  template <typename T>                          \
  constexpr constant bool name##_v = (__VA_ARGS__);

}  // namespace metal

namespace __metalloid {
template <typename T>
constexpr constant bool is_bfloat = __is_same(metal::remove_addrspace_t<__remove_cv(T)>, bfloat);
template <typename T>
using plain = metal::remove_addrspace_t<__remove_cv(T)>;

// The type itself, or a vector's element: the predicates on numbers hold for vectors of such numbers, too.
template <typename T>
struct number_of {
  using type = T;
  static constexpr constant bool is_vector = false;
};
template <typename T, int N>
struct number_of<metal::vec<T, N>> {
  using type = T;
  static constexpr constant bool is_vector = true;
};
template <typename T>
using number_t = typename number_of<plain<T>>::type;
template <typename T>
constexpr constant bool is_number_vector = number_of<plain<T>>::is_vector;
}  // namespace __metalloid

namespace metal {

METALLOID_PREDICATE(is_integral, __is_integral(__metalloid::number_t<T>))
METALLOID_PREDICATE(is_floating_point,
                    __is_floating_point(__metalloid::number_t<T>) || __metalloid::is_bfloat<__metalloid::number_t<T>>)
METALLOID_PREDICATE(is_arithmetic,
                    __is_arithmetic(__metalloid::number_t<T>) || __metalloid::is_bfloat<__metalloid::number_t<T>>)
METALLOID_PREDICATE(is_signed,
                    __is_signed(__metalloid::number_t<T>) || __metalloid::is_bfloat<__metalloid::number_t<T>>)
METALLOID_PREDICATE(is_unsigned, __is_unsigned(__metalloid::number_t<T>))
METALLOID_PREDICATE(is_void, __is_void(T))
METALLOID_PREDICATE(is_pointer, __is_pointer(T))
METALLOID_PREDICATE(is_reference, __is_reference(T))
METALLOID_PREDICATE(is_lvalue_reference, __is_lvalue_reference(T))
METALLOID_PREDICATE(is_rvalue_reference, __is_rvalue_reference(T))
METALLOID_PREDICATE(is_array, __is_array(T))
METALLOID_PREDICATE(is_enum, __is_enum(T))
METALLOID_PREDICATE(is_union, __is_union(T))
METALLOID_PREDICATE(is_class, __is_class(T) && !__metalloid::is_bfloat<T> && !__metalloid::is_number_vector<T>)
METALLOID_PREDICATE(is_function, __is_function(T))
METALLOID_PREDICATE(is_const, __is_const(T))
METALLOID_PREDICATE(is_volatile, __is_volatile(T))
METALLOID_PREDICATE(is_scalar, __is_scalar(T) || __metalloid::is_bfloat<T>)
METALLOID_PREDICATE(is_fundamental, __is_fundamental(T) || __metalloid::is_bfloat<T>)
METALLOID_PREDICATE(is_compound, __is_compound(T) && !__metalloid::is_bfloat<T>)
METALLOID_PREDICATE(is_object, __is_object(T))
METALLOID_PREDICATE(is_member_pointer, __is_member_pointer(T))
METALLOID_PREDICATE(is_trivial, __is_trivially_constructible(T) && __is_trivially_copyable(T))
METALLOID_PREDICATE(is_trivially_copyable, __is_trivially_copyable(T))
METALLOID_PREDICATE(is_standard_layout, __is_standard_layout(T))
METALLOID_PREDICATE(is_default_constructible, __is_constructible(T))
METALLOID_PREDICATE(is_copy_constructible, __is_constructible(T, const T&))
METALLOID_PREDICATE(is_move_constructible, __is_constructible(T, T&&))
METALLOID_PREDICATE(is_final, __is_final(T))
METALLOID_PREDICATE(is_abstract, __is_abstract(T))
METALLOID_PREDICATE(is_polymorphic, __is_polymorphic(T))
#undef METALLOID_PREDICATE

template <typename A, typename B>
struct is_same : bool_constant<__is_same(A, B)> {};
template <typename A, typename B>
constexpr constant bool is_same_v = __is_same(A, B);

template <typename From, typename To>
struct is_convertible : bool_constant<__is_convertible(From, To)> {};
template <typename From, typename To>
constexpr constant bool is_convertible_v = __is_convertible(From, To);

template <typename Base, typename Derived>
struct is_base_of : bool_constant<__is_base_of(Base, Derived)> {};
template <typename Base, typename Derived>
constexpr constant bool is_base_of_v = __is_base_of(Base, Derived);

template <typename T, typename... A>
struct is_constructible : bool_constant<__is_constructible(T, A...)> {};
template <typename T, typename... A>
constexpr constant bool is_constructible_v = __is_constructible(T, A...);

template <typename T, typename U>
struct is_assignable : bool_constant<__is_assignable(T, U)> {};
template <typename T, typename U>
constexpr constant bool is_assignable_v = __is_assignable(T, U);

template <typename T>
struct alignment_of : integral_constant<size_t, alignof(T)> {};
template <typename T>
constexpr constant size_t alignment_of_v = alignof(T);

template <typename T>
struct rank : integral_constant<size_t, __array_rank(T)> {};
template <typename T>
constexpr constant size_t rank_v = __array_rank(T);

template <typename T, unsigned dimension = 0>
struct extent : integral_constant<size_t, __array_extent(T, dimension)> {};
template <typename T, unsigned dimension = 0>
constexpr constant size_t extent_v = __array_extent(T, dimension);

template <typename...>
struct conjunction : true_type {};
template <typename A>
struct conjunction<A> : A {};
template <typename A, typename... Rest>
struct conjunction<A, Rest...> : conditional_t<bool(A::value), conjunction<Rest...>, A> {};
template <typename... A>
constexpr constant bool conjunction_v = conjunction<A...>::value;

template <typename...>
struct disjunction : false_type {};
template <typename A>
struct disjunction<A> : A {};
template <typename A, typename... Rest>
struct disjunction<A, Rest...> : conditional_t<bool(A::value), A, disjunction<Rest...>> {};
template <typename... A>
constexpr constant bool disjunction_v = disjunction<A...>::value;

template <typename A>
struct negation : bool_constant<!bool(A::value)> {};
template <typename A>
constexpr constant bool negation_v = !bool(A::value);

// Public kernels use these internal names of Metal's own library.
template <typename... A>
using _conjunction = conjunction<A...>;
template <typename... A>
using _disjunction = disjunction<A...>;
template <typename A>
using _negation = negation<A>;

template <typename F, typename... A>
struct invoke_result {
  using type = decltype(declval<F>()(declval<A>()...));
};
template <typename F, typename... A>
using invoke_result_t = typename invoke_result<F, A...>::type;
template <typename F>
struct result_of;
template <typename F, typename... A>
struct result_of<F(A...)> : invoke_result<F, A...> {};
template <typename F>
using result_of_t = typename result_of<F>::type;

template <typename... T>
struct common_type;
template <typename T>
struct common_type<T> {
  using type = __decay(T);
};
template <typename A, typename B>
struct common_type<A, B> {
  using type = __decay(decltype(false ? declval<__decay(A)>() : declval<__decay(B)>()));
};
template <typename A, typename B, typename... Rest>
struct common_type<A, B, Rest...> : common_type<typename common_type<A, B>::type, Rest...> {};
template <typename... T>
using common_type_t = typename common_type<T...>::type;

template <typename T, T... values>
struct integer_sequence {
  using value_type = T;
  METALLOID_FUNC static constexpr size_t size() { return sizeof...(values); }
};
template <size_t... values>
using index_sequence = integer_sequence<size_t, values...>;
template <typename T, T count>
using make_integer_sequence = __make_integer_seq<integer_sequence, T, count>;
template <size_t count>
using make_index_sequence = make_integer_sequence<size_t, count>;
template <typename... T>
using index_sequence_for = make_index_sequence<sizeof...(T)>;

template <typename T>
METALLOID_FUNC constexpr T* addressof(T& value) {
  return __builtin_addressof(value);
}

}  // namespace metal

#endif
