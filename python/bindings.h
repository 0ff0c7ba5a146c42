// The parts of metalloid._core, one function per source file.
#pragma once

#include <nanobind/nanobind.h>

#include "metalloid/fast.h"

void bind_cache(nanobind::module_& module);
void bind_check(nanobind::module_& module);
void bind_dlpack(nanobind::module_& module);
void bind_fast(nanobind::module_& module);
void bind_fast_mlx(nanobind::module_& module, nanobind::class_<metalloid::fast::MetalKernel>& kernel);
void bind_log(nanobind::module_& module);
void bind_quick_calls(nanobind::module_& module);
void bind_recorder(nanobind::module_& module);
void bind_tune(nanobind::module_& module);
