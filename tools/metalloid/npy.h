// Reading and writing NumPy's .npy files (format versions 1 to 3, little-endian, C order).
#pragma once

#include <filesystem>

#include "array.h"

namespace metalloid::tool {

// Structured and void types become bytes, complex64 pairs of float: both with one more dimension, the last.
// Throws Error(input_output) that names the file and says what is wrong with it.
Array read_npy(const std::filesystem::path& file);
// bfloat16 is written as uint16, which NumPy knows.
void write_npy(const std::filesystem::path& file, const Array& array);

}  // namespace metalloid::tool
