// Runs kernels on a device and on "reference", and says where they differ.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "metalloid/metalloid.h"
#include "program.h"

namespace metalloid::comparison {

struct Shape {
  Size grid, group;
  unsigned inputs = 0;  // where in the buffers they begin
};

// Some of each kind: whole rows of simdgroups, rows of 16 threads or other parts of them, threadgroups that the grid's
// edge cuts.
std::vector<Shape> shapes_for(Dimensions dimensions, std::uint64_t seed);

struct Difference {
  // An error of the reference engine, one of the device alone, or other results.
  enum class Kind { invalid_source, reference_error, fallback, error, result };
  Kind kind = Kind::result;
  std::string text;  // for people
};

struct Task {
  GeneratedKernel kernel;
  std::uint64_t seed = 0;
  std::vector<Shape> shapes;
  std::chrono::seconds timeout{10};
  std::string device = "cpu";
};

// Of each task. The tasks have the same mathematics and device, and are one library.
std::vector<std::optional<Difference>> compare(const std::vector<Task>& tasks);

}  // namespace metalloid::comparison
