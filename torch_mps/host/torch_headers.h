// Headers of the installed PyTorch that Metal sources may include, <ATen/native/mps/kernels/...>.
#pragma once

#include <map>
#include <string>

namespace metalloid::torch_host {

// Every header of torch's that the source includes, and that those include, by name. Those of <c10/metal/...> are
// Metalloid's own.
std::map<std::string, std::string> torch_headers_included_by(const std::string& source);

}  // namespace metalloid::torch_host
