// What the engine compiles for, in the words of Engine::target_for.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace metalloid::engines::cuda {

struct Target {
  bool checks_bounds = true;
  bool is_usual = false;                   // as many registers as the code wants, for as many threads as that leaves
  bool may_overlap = false;                // of usual code: what is written may be what other arguments read
  std::array<std::uint32_t, 3> threads{};  // of usual code for threadgroups of that size alone; 0: of any
  std::string processor;                   // "sm_90"
  unsigned ptx = 0;                        // version: 83 is 8.3

  // Of compute capability 9.0: wgmma, of which its code then is for no other.
  bool has_warpgroup_products() const { return processor == "sm_90" && ptx >= 80; }

  // cp.async.
  bool has_asynchronous_copies() const;

  // red of several floats.
  bool has_vector_reductions() const;

  bool knows_threads() const { return threads[0] != 0; }

  // "checked usual sm_90;ptx83", "checked usual 256,1,1 sm_90;ptx83", "checked usual overlapping sm_90;ptx83"
  std::string text() const;
  // Throws internal for what is no such text.
  static Target from(std::string_view text);
};

// The PTX version of a driver by the number that it gives of itself: 13000 is CUDA 13.0.
unsigned ptx_version(int driver_version);

}  // namespace metalloid::engines::cuda
