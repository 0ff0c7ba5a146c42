// A roofline as an SVG picture: what the machine can do, and where kernels are.
#pragma once

#include <string>
#include <vector>

#include "machine_limits.h"

namespace metalloid::tool {

struct RooflinePoint {
  std::string label;
  double intensity = 0;  // flops per byte, more than 0
  double flops = 0;      // per second
};

std::string roofline_svg(double machine_flops, const Bandwidth& bandwidth, const std::vector<RooflinePoint>& points,
                         const std::string& title);

}  // namespace metalloid::tool
