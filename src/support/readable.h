// Whether memory of the process is there, whatever it belongs to.
#pragma once

namespace metalloid::support {

bool is_readable(const void* address);
// The address itself, or the beginning of the first page behind it that can be read; `end` if there is none.
const void* first_readable(const void* address, const void* end);

}  // namespace metalloid::support
