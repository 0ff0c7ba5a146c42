// The parts of metalloid._core, one function per source file.
#pragma once

#include <nanobind/nanobind.h>

void bind_fast(nanobind::module_& module);
void bind_recorder(nanobind::module_& module);
