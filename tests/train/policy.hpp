// The policy that trainings in double are tested with; another is tested by the same files where
// this names a header that defines check::policy.
#pragma once

#ifdef CASTNET_TEST_DEVICE
#include CASTNET_TEST_DEVICE
#else
#include <castnet/policy/cpu.hpp>

namespace check {
using policy = castnet::policy::basic_cpu<double>;
}
#endif
