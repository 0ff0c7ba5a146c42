// What was tuned before, on disk and in memory. Kept as JSON, so that a person can read a file.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "metalloid/tune.h"
#include "support/hash.h"

namespace metalloid::tuning {

// Device, kernel, grid and arguments: one file each. Integers and structs that are bound by value count, because they
// are sizes more often than not; floats bound by value do not.
support::Hash key_of(const Kernel& kernel, const Dispatch& dispatch, const TuneOptions& options);
// The options that decide what is chosen, and the candidates: one entry of the file each.
support::Hash options_key(const Dispatch& dispatch, const TuneOptions& options, std::span<const Size> candidates);

// For people: "x f32[1024], n 1024".
std::string describe_arguments(const Kernel& kernel, const Dispatch& dispatch, const TuneOptions& options);

std::optional<TuneResult> find(const support::Hash& key, const support::Hash& options);
// The newest whose results were compared, whatever its other options.
std::optional<TuneResult> find_newest(const support::Hash& key);
void remember(const support::Hash& key, const support::Hash& options, const TuneResult& result,
              const std::string& arguments);
void forget();  // what is in memory

}  // namespace metalloid::tuning
