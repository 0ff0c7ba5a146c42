// What engines say of a kernel, in one line.
#pragma once

#include <fmt/format.h>

#include <string>

#include "metalloid/reflection.h"
#include "output.h"

namespace metalloid::tool {

inline std::string remark_text(const Remark& remark) {
  std::string place;
  if (!remark.source_file.empty())
    place = fmt::format("{}:{}: ", printable_name(remark.source_file), remark.source_line);
  return fmt::format("{}: {}{}", remark.engine, place, printable_name(remark.reason));
}

}  // namespace metalloid::tool
