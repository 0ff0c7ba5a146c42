// What metalloid._core and the MLX extension call of each other. The extension is compiled on the user's machine, by
// another compiler than Metalloid was: only plain data crosses here, and no exceptions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace metalloid::mlx_extension {

constexpr int interface_version = 2;

// An array as a kernel sees it. Its element type is a number in the order of metalloid::ElementType.
struct ArrayView {
  void* data;  // the element at position (0, 0, ...); null where there is no memory yet
  int dtype;
  std::size_t dimensions;
  const std::int32_t* shape;
  const std::int64_t* strides;  // in elements
};

// Filled by the side that fails. The text is malloc'ed and freed by the side that reads it.
struct Failure {
  enum Kind { none, invalid_argument, other };
  Kind kind = none;
  char* text = nullptr;
};

// What Metalloid does for the extension. `call` is a kernel with its launch; functions may be called on any thread.
struct Host {
  // Compiles, and checks all that can be checked before the arrays have values.
  void (*check)(void* call, const ArrayView* inputs, std::size_t input_count, const ArrayView* outputs,
                std::size_t output_count, Failure* failure);
  // Runs the kernel to its end.
  void (*run)(void* call, const ArrayView* inputs, std::size_t input_count, const ArrayView* outputs,
              std::size_t output_count, Failure* failure);
  void (*release)(void* call);
};

// What the extension does for Metalloid. `array` is an mlx::core::array.
struct Extension {
  int version;             // interface_version that it was compiled with
  std::size_t array_size;  // of an mlx::core::array, in bytes
  bool runs_in_stream;     // false: MLX is too old to carry errors out of a stream's thread, so evaluation waits
  // Replaces `outputs` by the outputs of a new node of MLX's graph. Takes `call`, in any case.
  void (*add_node)(void* call, void* const* inputs, std::size_t input_count, const ArrayView* output_types,
                   void* const* outputs, std::size_t output_count, Failure* failure);
  // True where a transformation of MLX traces one of the arrays.
  bool (*is_traced)(void* const* arrays, std::size_t count);
  // Fills shape with at most `dimensions` extents and returns the number of dimensions.
  std::size_t (*shape_of)(void* array, std::int32_t* shape, std::size_t dimensions);
  // Waits until no kernel is queued or running.
  void (*finish)();
};

using Entry = const Extension*(const Host*);
constexpr const char* entry_name = "metalloid_mlx_extension";

}  // namespace metalloid::mlx_extension
