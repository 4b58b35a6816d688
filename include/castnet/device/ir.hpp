// The names of graphs and plans in the namespaces of devices, which work on them.
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
