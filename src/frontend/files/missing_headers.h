// Names that a source uses without the header that has them.
#pragma once

#include <string>
#include <string_view>

namespace metalloid::frontend {

// The header, as in `#include <...>`, that declares what this error says is unknown; empty if none is known to.
// `source` starts where the error stands.
std::string header_that_declares(std::string_view message, std::string_view source);

}  // namespace metalloid::frontend
