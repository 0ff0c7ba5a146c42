// What this machine can do at most, measured: the two lines of a roofline (Williams, Waterman, Patterson 2009).
#pragma once

#include <cstddef>
#include <map>

namespace metalloid::tool {

// By all cores together.
struct Bandwidth {
  std::size_t bytes = 0;  // that were gone through again and again
  double copy = 0;        // bytes read and written per second by memcpy
  double read = 0;        // bytes per second
  double best() const { return copy > read ? copy : read; }
};

unsigned core_count();

class MachineLimits {
 public:
  // They take about 0.05 and 0.1 s. Of several measurements the best counts: whatever else runs only takes away.
  void measure_flops();
  // Over so many bytes, within bounds: what fits into a cache moves faster than memory.
  void measure_bandwidth(std::size_t bytes);

  // float operations per second in fused multiply-adds of the machine's widest vectors.
  double flops() const { return flops_; }
  const Bandwidth& bandwidth(std::size_t bytes) const { return bandwidths_.at(bytes); }

 private:
  double flops_ = 0;
  std::map<std::size_t, Bandwidth> bandwidths_;  // by the bytes that were asked for
};

// What part of the machine's processor time went to other processes since this was made.
class OtherLoad {
 public:
  OtherLoad();
  double part() const;  // 0 to 1

 private:
  struct Times {
    double wall = 0, busy = 0, own = 0;  // seconds
  };
  static Times now();
  Times start_;
};

}  // namespace metalloid::tool
