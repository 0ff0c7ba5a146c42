// A dispatch that is screened: what its workers ask, each for the threadgroups that it runs, and how memory was before.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "checker/code/screen.h"
#include "checker/run/kept_memory.h"
#include "checker/run/screen.h"
#include "checker/run/watch.h"
#include "metalloid/reflection.h"
#include "support/function_ref.h"
#include "support/zeroed_array.h"

namespace metalloid::checker {

class ScreenedDispatch {
 public:
  // The kernel and `kept` are to live as long.
  ScreenedDispatch(const KernelInfo& kernel, std::vector<WatchedArgument> arguments, const WatchedGrid& grid,
                   bool strict, KeptMemory& kept);
  ~ScreenedDispatch();
  ScreenedDispatch(const ScreenedDispatch&) = delete;
  ScreenedDispatch& operator=(const ScreenedDispatch&) = delete;

  // Calls the function with each number below the first argument, in any order and at the same time.
  using ForEach = support::function_ref<void(std::size_t, support::function_ref<void(std::size_t)>)>;
  // Before any of it runs, by the table that code/screen.h made. Returns how many workers, `most` at most, may run it
  // at the same time; 0: it is not one to be screened. Throws std::bad_alloc.
  unsigned prepare(const ScreenedRoot* roots, unsigned most, ForEach for_each);
  // What a worker asks, until it gives it back. Safe to call from several threads.
  Screen& take();
  void give_back(Screen& screen);

  // When all threadgroups have run, and nothing was suspected.
  bool is_fine();
  // Makes memory what it was before.
  void restore() const;

 private:
  struct Copy {
    std::byte* address;
    std::size_t size;
    support::ZeroedArray<std::byte> bytes;  // that many at least
  };
  // Workers that what their stamps take in all allows.
  unsigned most_workers(const ScreenedRoot* roots) const;
  void copy_memory(const ScreenedRoot* roots, ForEach for_each);

  const KernelInfo& kernel_;
  const std::vector<WatchedArgument> arguments_;
  const WatchedGrid grid_;
  const bool strict_;
  KeptMemory& kept_;
  std::vector<Copy> copies_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Screen>> screens_;
  std::vector<Screen*> free_;
};

}  // namespace metalloid::checker
