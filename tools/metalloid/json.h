// JSON as the tool prints it.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace metalloid::tool {

// In ASCII, which no terminal takes for orders; bytes of names that are no UTF-8 become U+FFFD.
inline std::string to_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', /*ensure_ascii=*/true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace metalloid::tool
