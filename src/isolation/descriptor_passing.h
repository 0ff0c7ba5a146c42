// Messages with file descriptors between processes.
#pragma once

#include <span>
#include <vector>

#include "support/descriptor.h"

namespace metalloid::isolation {

// On a SOCK_SEQPACKET socket, where a message comes whole or not at all. Does not wait: false, with errno EAGAIN if it
// could be sent later.
bool send_with_descriptors(int socket, const void* message, std::size_t size, std::span<const int> descriptors);

// False at the end of the connection and for a message of another size.
bool receive_with_descriptors(int socket, void* message, std::size_t size,
                              std::vector<support::Descriptor>& descriptors);

}  // namespace metalloid::isolation
