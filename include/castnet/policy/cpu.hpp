// policy::cpu: everything on the CPU, in float, on as many threads as OpenMP gives (one without
// it).
#pragma once

#include <castnet/device/cpu/device.hpp>
#include <castnet/policy/policy.hpp>

#include <limits>
#include <type_traits>

namespace castnet {

namespace policy {

// In another element type: basic_cpu<double> is what gradients are checked with.
template <class T>
struct basic_cpu {
    using value_type = T;
    using device = cpu_device<T>;
    static constexpr char const* name = "cpu";
    static constexpr std::size_t budget = std::numeric_limits<std::size_t>::max();
};
using cpu = basic_cpu<float>;

// A policy that must not need more than this many bytes; checked while compiling.
template <class Base, std::size_t Bytes>
struct within : Base {
    static constexpr std::size_t budget = Bytes;
};

} // namespace policy

namespace detail {

// What a policy is made of; after a failed check, something plausible.
template <class Where>
using policy_or_cpu = std::conditional_t<Policy<Where>, Where, policy::cpu>;

} // namespace detail
} // namespace castnet
