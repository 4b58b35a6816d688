// Networks and trainings on castnet's CUDA kernels, run on the host.
#pragma once

#include "simulated_device.hpp"

namespace check {
using device = simt::device<double, false>;
using policy = simt::policy<false>;
} // namespace check
