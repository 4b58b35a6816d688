// Names of graphs and plans in the namespaces of devices.
#pragma once

#include <castnet/plan/kernel_launch.hpp>

namespace castnet {
namespace cpu {
using namespace ir;
}
namespace cuda {
using namespace ir;
}
} // namespace castnet
