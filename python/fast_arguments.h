// What the bindings of metal_kernel make of Python's arguments.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metalloid/fast.h"

namespace metalloid_python {

// Throws TypeError for a name that is no element type.
metalloid::fast::Dtype dtype_named(std::string_view name);

// A template argument that is a string names a dtype.
using PythonTemplate = std::vector<std::pair<std::string, nanobind::object>>;
metalloid::fast::TemplateArguments template_arguments(const PythonTemplate& values);

}  // namespace metalloid_python
