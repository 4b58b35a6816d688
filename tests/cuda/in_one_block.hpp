// The same, where the steps of tiny networks are one kernel.
#pragma once

#include "simulated_device.hpp"

namespace check {
using device = simt::device<double, true>;
using policy = simt::policy<true>;
} // namespace check
