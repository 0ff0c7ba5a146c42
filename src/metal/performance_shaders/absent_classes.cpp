// Classes that headers declare and nobody implements: files that name them load, and every message to one raises an
// error that names it.
#include "metal/objc/runtime.h"

namespace metalloid::objective_c {
namespace {

template <std::size_t count>
struct Symbols {
  unsigned long selector_count;
  Selector* selectors;
  unsigned short class_count, category_count;
  void* definitions[count + 1];
};

}  // namespace
}  // namespace metalloid::objective_c

using metalloid::objective_c::Class;

#define METALLOID_ABSENT(name)                                                                             \
  static Class metaclass_##name = {                                                                        \
      nullptr, nullptr, #name, 0, metalloid::objective_c::is_metaclass, sizeof(Class), {}, {}, {}, {}, {}, \
      {},      {},      1,     {}};                                                                        \
  extern "C" {                                                                                             \
  extern __attribute__((visibility("default"))) Class _OBJC_CLASS_##name;                                  \
  extern __attribute__((visibility("default"))) long __objc_class_name_##name;                             \
  Class _OBJC_CLASS_##name = {&metaclass_##name,                                                           \
                              nullptr,                                                                     \
                              #name,                                                                       \
                              0,                                                                           \
                              metalloid::objective_c::is_class,                                            \
                              sizeof(void*),                                                               \
                              {},                                                                          \
                              {},                                                                          \
                              {},                                                                          \
                              {},                                                                          \
                              {},                                                                          \
                              {},                                                                          \
                              {},                                                                          \
                              1,                                                                           \
                              {}};                                                                         \
  long __objc_class_name_##name = 0;                                                                       \
  }

#define METALLOID_ABSENT_CLASSES(of)                                                                           \
  of(MPSKernel) of(MPSNDArray) of(MPSNDArrayDescriptor) of(MPSMatrix) of(MPSMatrixDescriptor)                  \
      of(MPSMatrixMultiplication) of(MPSGraph) of(MPSGraphTensor) of(MPSGraphTensorData) of(MPSGraphOperation) \
          of(MPSGraphCompilationDescriptor) of(MPSGraphExecutionDescriptor)

METALLOID_ABSENT_CLASSES(METALLOID_ABSENT)

namespace {

#define METALLOID_COUNT(name) +1
#define METALLOID_LIST(name) &_OBJC_CLASS_##name,
constexpr unsigned short count = 0 METALLOID_ABSENT_CLASSES(METALLOID_COUNT);
metalloid::objective_c::Symbols<count> symbols = {
    0, nullptr, count, 0, {METALLOID_ABSENT_CLASSES(METALLOID_LIST) nullptr}};
metalloid::objective_c::Module module = {9, sizeof(module), "absent_classes",
                                         reinterpret_cast<metalloid::objective_c::SymbolTable*>(&symbols)};
[[maybe_unused]] const bool loaded = (__objc_exec_class(&module), true);

}  // namespace
