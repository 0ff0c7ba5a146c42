// The library that MetalShaderLibrary::getBundledLibrary() returns: on a Mac all of PyTorch's .metal files, here every
// source that was added.
#pragma once

#include <string>

namespace metalloid::torch_host {

// Sources are compiled when a kernel is first asked of the bundle; a kernel of a later source comes after those of
// earlier ones.
void add_bundled_source(std::string source);

}  // namespace metalloid::torch_host
