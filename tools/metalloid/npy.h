// Reading and writing NumPy's .npy files (format versions 1 to 3, little-endian, C order).
#pragma once

#include <filesystem>

#include "array.h"
#include "files.h"

namespace metalloid::tool {

// Structured and void types become bytes, complex64 pairs of float: both with one more dimension, the last.
// Throws Error(input_output) that names the file and says what is wrong with it.
Array read_npy(const std::filesystem::path& file);
// bfloat16 is written as uint16, which NumPy knows. Throws Error(input_output).
void write_npy(const std::filesystem::path& path, const Array& array);
// Writes and finishes a file that is open.
void write_npy(OutputFile& file, const Array& array);

}  // namespace metalloid::tool
