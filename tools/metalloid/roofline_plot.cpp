#include "roofline_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace metalloid::tool {
namespace {

constexpr double width = 760, height = 470, row_height = 20;
constexpr double left = 80, right = 730, top = 50, bottom = 410;
constexpr std::array<std::string_view, 4> colours = {"#d55e00", "#0072b2", "#009e73", "#cc79a7"};

std::string escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    switch (letter) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += letter;
    }
  }
  return result;
}

// A logarithmic axis between powers of ten.
struct Axis {
  double from, to;  // on the picture
  int low, high;    // exponents

  Axis(double start, double end, double smallest, double largest)
      : from(start),
        to(end),
        low(static_cast<int>(std::floor(std::log10(smallest)))),
        high(std::max(static_cast<int>(std::ceil(std::log10(largest))), low + 1)) {}

  double place(double value) const { return from + (to - from) * (std::log10(value) - low) / (high - low); }
};

// 0.01, 1, 1000: powers of ten as people write them.
std::string power_text(int exponent) { return fmt::format("{:g}", std::pow(10.0, exponent)); }

std::string line(double x1, double y1, double x2, double y2, std::string_view style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2, style);
}

std::string text(double x, double y, std::string_view words, std::string_view style) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, style, escaped(words));
}

}  // namespace

std::string roofline_svg(double machine_flops, const Bandwidth& bandwidth, const std::vector<RooflinePoint>& points,
                         const std::string& title) {
  const double ridge = machine_flops / bandwidth.best();
  double least_x = ridge / 30, most_x = ridge * 30, least_y = machine_flops / 100;
  for (const RooflinePoint& point : points) {
    least_x = std::min(least_x, point.intensity / 2);
    most_x = std::max(most_x, point.intensity * 2);
    least_y = std::min(least_y, point.flops / 2);
  }
  const Axis x(left, right, least_x, most_x);
  const Axis y(bottom, top, std::min(least_y, std::pow(10.0, x.low) * bandwidth.best()), machine_flops * 1.2);

  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
      width, height + row_height * static_cast<double>(points.size()));
  svg += text(left, 28, title, "font-size=\"15\"");
  for (int exponent = x.low; exponent <= x.high; ++exponent) {
    const double place = x.place(std::pow(10.0, exponent));
    svg += line(place, top, place, bottom, "stroke=\"#ddd\"");
    svg += text(place, bottom + 18, power_text(exponent), "text-anchor=\"middle\"");
  }
  for (int exponent = y.low; exponent <= y.high; ++exponent) {
    const double place = y.place(std::pow(10.0, exponent));
    svg += line(left, place, right, place, "stroke=\"#ddd\"");
    svg += text(left - 8, place + 4, power_text(exponent - 9), "text-anchor=\"end\"");
  }
  svg += text((left + right) / 2, bottom + 44, "arithmetic intensity, FLOP per byte", "text-anchor=\"middle\"");
  svg += fmt::format("<text transform=\"translate(22 {:.0f}) rotate(-90)\" text-anchor=\"middle\">GFLOP/s</text>\n",
                     (top + bottom) / 2);

  const double start = std::max(std::pow(10.0, x.low), std::pow(10.0, y.low) / bandwidth.best());
  constexpr std::string_view roof = "stroke=\"black\" stroke-width=\"2\"";
  svg += line(x.place(start), y.place(start * bandwidth.best()), x.place(ridge), y.place(machine_flops), roof);
  svg += line(x.place(ridge), y.place(machine_flops), right, y.place(machine_flops), roof);
  svg += text(right, y.place(machine_flops) - 8, fmt::format("{:.0f} GFLOP/s", machine_flops / 1e9),
              "text-anchor=\"end\"");
  const double slope =
      std::atan2(y.place(machine_flops) - y.place(start * bandwidth.best()), x.place(ridge) - x.place(start));
  const double middle = std::sqrt(start * ridge);
  svg += fmt::format(
      "<text transform=\"translate({:.1f} {:.1f}) rotate({:.1f})\" text-anchor=\"middle\">{:.1f} GB/s</text>\n",
      x.place(middle) - 6, y.place(middle * bandwidth.best()) - 8, slope * 180 / std::acos(-1.0),
      bandwidth.best() / 1e9);

  for (std::size_t i = 0; i < points.size(); ++i) {
    const RooflinePoint& point = points[i];
    const double at_x = x.place(point.intensity), at_y = y.place(point.flops);
    const double attainable = std::min(machine_flops, point.intensity * bandwidth.best());
    const std::string_view colour = colours[i % colours.size()];
    if (point.flops < attainable) {
      svg += line(at_x, at_y, at_x, y.place(attainable), fmt::format("stroke=\"{}\" stroke-dasharray=\"3 3\"", colour));
    }
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"{}\"/>\n", at_x, at_y, colour);
    const double row = height + row_height * static_cast<double>(i);
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"{}\"/>\n", left + 6, row - 4, colour);
    svg += text(left + 18, row,
                fmt::format("{}: {:.3g} GFLOP/s, {:.0f} % of the roofline", point.label, point.flops / 1e9,
                            100 * point.flops / attainable),
                "");
  }
  return svg + "</svg>\n";
}

}  // namespace metalloid::tool
