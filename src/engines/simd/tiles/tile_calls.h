// What generated code calls for operations on tiles.
#pragma once

#include <string_view>

namespace metalloid::engines::simd {

// void (u32 first thread, operands of the operation), by a simdgroup once, or by each thread that has tiles for itself.
// Flags are u32, and each tile has one more behind it: whether it is held. Then `first` is how many bytes lie between
// what two lanes hold, and the address is that of the first lane; what a thread has for itself comes as a tile in
// memory. Names go on with the instructions that the code is for (tile_code.h).
inline constexpr std::string_view multiply_tiles_name = "metalloid_multiply_tiles";
inline constexpr std::string_view load_tile_name = "metalloid_load_tile";
inline constexpr std::string_view store_tile_name = "metalloid_store_tile";

// The entry point of that name, or null.
void* tile_symbol(std::string_view name);

}  // namespace metalloid::engines::simd
