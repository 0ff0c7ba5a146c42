#include "isolation/descriptor_passing.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "isolation/messages.h"

namespace metalloid::isolation {
namespace {

constexpr std::size_t control_size = CMSG_SPACE(max_order_descriptors * sizeof(int));

}  // namespace

bool send_with_descriptors(int socket, const void* message, std::size_t size, std::span<const int> descriptors) {
  alignas(cmsghdr) std::array<char, control_size> control{};
  iovec part{const_cast<void*>(message), size};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  ssize_t sent;
  do sent = ::sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(size);
}

bool receive_with_descriptors(int socket, void* message, std::size_t size,
                              std::vector<support::Descriptor>& descriptors) {
  alignas(cmsghdr) std::array<char, control_size> control{};
  iovec part{message, size};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t received;
  do received = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  while (received < 0 && errno == EINTR);
  if (received < 0) return false;
  for (cmsghdr* each = CMSG_FIRSTHDR(&header); each; each = CMSG_NXTHDR(&header, each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = 0; CMSG_LEN(at + sizeof(int)) <= each->cmsg_len; at += sizeof(int)) {
      int value;
      std::memcpy(&value, CMSG_DATA(each) + at, sizeof(value));
      descriptors.emplace_back(value);
    }
  }
  return received == static_cast<ssize_t>(size);
}

}  // namespace metalloid::isolation
