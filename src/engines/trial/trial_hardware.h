// This machine's processor with memory of its own, pages that are mapped for kernels only, or with the host's, as GPUs
// of Apple's have it. What it is given it does later.
#pragma once

#include <cstddef>

#include "engines/hardware.h"

namespace metalloid::engines::trial {

class TrialHardware : public Hardware {
 public:
  // While one lives, kernels may reach the memory. At other times whoever touches it dies of it.
  class Access {
   public:
    explicit Access(TrialHardware& hardware);
    ~Access();
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;

   private:
    TrialHardware& hardware_;
  };

  // Whose code runs on it.
  virtual Hardware& host() const = 0;
  virtual void open() = 0;
  virtual void close() noexcept = 0;
};

constexpr std::size_t hardware_count = 2;  // equal ones
// These live as long as the process.
TrialHardware& hardware(std::size_t number);
TrialHardware& unified_hardware();

}  // namespace metalloid::engines::trial
