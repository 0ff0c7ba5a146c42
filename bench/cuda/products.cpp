// Products of square matrices on a GPU, as authors of Metal kernels write them (products.metal): how many
// floating-point operations they do in a second.
//
//   metalloid_products [--device cuda] [--size N] [KERNEL...]
//
// Matrices hold -1, 0 and 1, so that sums are exact in every order; some rows of the result are compared.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "metalloid/metalloid.h"

namespace {

struct Case {
  const char* kernel;
  std::uint32_t rows, columns;  // of a threadgroup's tile
  std::uint32_t threads;
};
constexpr Case cases[] = {
    {"matrices_half_64x64", 64, 64, 128},       {"matrices_half_128x128", 128, 128, 128},
    {"matrices_half_128x128_8", 128, 128, 256}, {"matrices_half_256x128_8", 256, 128, 256},
    {"matrices_half_128x64", 128, 64, 128},     {"matrices_bfloat_128x128", 128, 128, 128},
    {"matrices_float_64x64", 64, 64, 128},      {"matrices_float_128x64", 128, 64, 128},
    {"matrices_float_128x128", 128, 128, 128},  {"tensors_half_64x32", 64, 32, 128},
    {"tensors_half_128x128", 128, 128, 128},    {"tensors_bfloat_128x128", 128, 128, 128},
    {"tensors_half_128x256", 128, 256, 256},    {"tensors_bfloat_128x256", 128, 256, 256},
    {"tensors_float_128x128", 128, 128, 128},   {"cooperative_half_128x256", 128, 256, 256},
};

struct Settings {
  std::string device = "cuda";
  std::uint32_t size = 8192;
  std::vector<std::string> kernels;
};

Settings settings_of(int count, char** arguments) {
  Settings settings;
  for (int i = 1; i < count; ++i) {
    const std::string_view name = arguments[i];
    if (name == "--device" && i + 1 < count) {
      settings.device = arguments[++i];
    } else if (name == "--size" && i + 1 < count) {
      settings.size = static_cast<std::uint32_t>(std::strtoul(arguments[++i], nullptr, 0));
    } else if (name.starts_with("-")) {
      fmt::print(stderr, "what is {}?\n", name);
      std::exit(2);
    } else {
      settings.kernels.emplace_back(name);
    }
  }
  return settings;
}

enum class Type { half, bfloat, single };
Type type_of(std::string_view kernel) {
  if (kernel.find("bfloat") != std::string_view::npos) return Type::bfloat;
  return kernel.find("half") != std::string_view::npos ? Type::half : Type::single;
}

std::vector<std::byte> as_type(std::span<const int> numbers, Type type) {
  std::vector<std::byte> bytes;
  const auto append = [&](auto number) {
    const auto own = std::bit_cast<std::array<std::byte, sizeof(number)>>(number);
    bytes.insert(bytes.end(), own.begin(), own.end());
  };
  for (const int number : numbers) {
    switch (type) {
      case Type::half: append(static_cast<_Float16>(number)); break;
      case Type::bfloat:
        append(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(number)) >> 16));
        break;
      case Type::single: append(static_cast<float>(number)); break;
    }
  }
  return bytes;
}

double number_at(const std::vector<std::byte>& bytes, std::size_t at, Type type) {
  if (type == Type::single) {
    float number;
    std::memcpy(&number, bytes.data() + 4 * at, 4);
    return number;
  }
  std::uint16_t bits;
  std::memcpy(&bits, bytes.data() + 2 * at, 2);
  if (type == Type::half) return static_cast<double>(std::bit_cast<_Float16>(bits));
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

class Products {
 public:
  explicit Products(const Settings& settings)
      : size_(settings.size),
        device_(metalloid::Device::named(settings.device)),
        a_(random(1)),
        b_(random(2)),
        library_(library_for(device_)) {}

  void measure(const Case& one) const {
    const Type type = type_of(one.kernel);
    const metalloid::Kernel kernel = library_.kernel(one.kernel);
    const auto a_bytes = as_type(a_, type), b_bytes = as_type(b_, type);
    metalloid::Buffer a(device_, a_bytes.size()), b(device_, b_bytes.size()), c(device_, a_bytes.size());
    a.write(0, a_bytes);
    b.write(0, b_bytes);
    metalloid::Dispatch dispatch;
    if (std::string_view(one.kernel).starts_with("matrices")) {
      dispatch.buffer(0, a).buffer(1, b).buffer(2, c).value(3, size_);
    } else {
      const std::array<std::int64_t, 2> extents = {size_, size_};
      dispatch.tensor(0, a, extents).tensor(1, b, extents).tensor(2, c, extents);
    }
    dispatch.threadgroups({size_ / one.columns, size_ / one.rows}, {one.threads});
    const double seconds = seconds_of(kernel, dispatch);
    fmt::print("{:24} {:7.1f} TFLOP/s {:10.1f} us  {}\n", one.kernel, 2.0 * size_ * size_ * size_ / seconds * 1e-12,
               seconds * 1e6, is_right(c, type) ? "right" : "WRONG");
    std::fflush(stdout);
  }

 private:
  static metalloid::Library library_for(const metalloid::Device& device) {
    std::ifstream stream(METALLOID_SOURCE_FOLDER "/bench/cuda/products.metal");
    std::ostringstream text;
    text << stream.rdbuf();
    metalloid::CompileOptions options;
    options.language = {4, 0};
    return device.make_library(text.str(), options);
  }

  std::vector<int> random(unsigned seed) const {
    std::mt19937 generator(seed);
    std::vector<int> numbers(std::size_t{size_} * size_);
    for (int& number : numbers) number = static_cast<int>(generator() % 3) - 1;
    return numbers;
  }

  // The shortest time of a dispatch, of some rounds of several.
  double seconds_of(const metalloid::Kernel& kernel, const metalloid::Dispatch& dispatch) const {
    using Clock = std::chrono::steady_clock;
    metalloid::Stream stream(device_);
    double best = 1e9;
    for (int round = 0; round < 5; ++round) {
      const int dispatches = round == 0 || best > 0.05 ? 1 : 5;
      const auto begin = Clock::now();
      for (int i = 0; i < dispatches; ++i) stream.dispatch(kernel, dispatch);
      stream.synchronize();
      best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count() / dispatches);
    }
    return best;
  }

  bool is_right(const metalloid::Buffer& c, Type type) const {
    std::vector<std::byte> bytes(c.size());
    c.read(0, bytes);
    for (std::uint32_t row = 5; row < size_; row += size_ / 8 + 1) {
      std::vector<int> sums(size_);
      for (std::uint32_t k = 0; k < size_; ++k) {
        const int left = a_[std::size_t{row} * size_ + k];
        for (std::uint32_t j = 0; j < size_; ++j) sums[j] += left * b_[std::size_t{k} * size_ + j];
      }
      for (std::uint32_t j = 0; j < size_; ++j) {
        const double wanted = number_at(as_type(std::span(&sums[j], 1), type), 0, type);
        if (number_at(bytes, std::size_t{row} * size_ + j, type) != wanted) return false;
      }
    }
    return true;
  }

  const std::uint32_t size_;
  const metalloid::Device device_;
  const std::vector<int> a_, b_;
  const metalloid::Library library_;
};

}  // namespace

int main(int count, char** arguments) {
  const Settings settings = settings_of(count, arguments);
  try {
    const Products products(settings);
    for (const Case& one : cases) {
      const auto& wanted = settings.kernels;
      if (wanted.empty() || std::ranges::find(wanted, one.kernel) != wanted.end()) products.measure(one);
    }
  } catch (const metalloid::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
