// What was tuned before, on disk and in memory. Kept as JSON, so that a person can read a file.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "metalloid/tune.h"
#include "support/hash.h"

namespace metalloid::tuning {

// Device, kernel, grid, arguments and the options that decide. Integers and structs that are bound by value count,
// because they are sizes more often than not; floats bound by value do not.
support::Hash key_of(const Kernel& kernel, const Dispatch& dispatch, const TuneOptions& options,
                     std::span<const Size> candidates);

// For people: "x f32[1024], n 1024".
std::string describe_arguments(const Kernel& kernel, const Dispatch& dispatch, const TuneOptions& options);

std::optional<TuneResult> find(const support::Hash& key);
void remember(const support::Hash& key, const TuneResult& result, const std::string& arguments);
void forget();  // what is in memory

}  // namespace metalloid::tuning
