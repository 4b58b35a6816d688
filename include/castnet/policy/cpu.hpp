// CPU policy, policy::cpu: computes in float, on as many threads as OpenMP has (one without it).
#pragma once

#include <castnet/core/target.hpp>
#include <castnet/device/cpu/device.hpp>
#include <castnet/policy/policy.hpp>

#include <limits>
#include <type_traits>

namespace castnet {

namespace policy::inline CASTNET_TARGET { // so models and trainings, which name it, differ, too

// The same with another element type; basic_cpu<double> is for gradient checks.
template <class T>
struct basic_cpu {
    using value_type = T;
    using device = cpu_device<T>;
    static constexpr char const* name = "cpu";
    static constexpr std::size_t budget = std::numeric_limits<std::size_t>::max();
};
using cpu = basic_cpu<float>;

// Limits the memory of a policy to `Bytes` bytes; checked while compiling.
template <class Base, std::size_t Bytes>
struct memory_limit : Base {
    static constexpr std::size_t budget = Bytes;
};

} // namespace policy::inline CASTNET_TARGET

namespace detail {

// The policy itself; after a failed check, a placeholder, so that no other errors follow.
template <class Where>
using policy_or_cpu = std::conditional_t<Policy<Where>, Where, policy::cpu>;

} // namespace detail
} // namespace castnet
