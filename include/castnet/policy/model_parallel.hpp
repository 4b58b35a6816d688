// Model parallelism, policy::model_parallel<Where, N>: a network on N devices, on which
// on<0, layers…> to on<N - 1, layers…> place its parts. Parts that do not wait for each other run
// at the same time.
#pragma once

#include <castnet/device/cpu/devices.hpp>
#include <castnet/policy/cpu.hpp>

namespace castnet::policy {

namespace detail {

template <class Device, int N>
struct several {
    static constexpr bool on_a_cpu = false;
    using device = Device;
};
template <class T, class F, int N>
struct several<cpu_device<T, F>, N> {
    static constexpr bool on_a_cpu = true;
    using device = cpu_devices<cpu_device<T, F>, N>;
};
template <class Where>
using device_of_each = typename castnet::detail::policy_or_cpu<Where>::device;

} // namespace detail

// N devices of the CPU: threads, each with an equal share of all threads. Results that another
// device reads are copied at once, parameters once in every step; gradients are added up on the
// device of the parameter. The steps are those of the same network on Where. For data parallelism,
// too: mirrored<model_parallel<Where, N>, M>.
template <class Where, int N>
struct model_parallel : castnet::detail::policy_or_cpu<Where> {
    static_assert(is_policy<Where>::checked);
    static_assert(N >= 1, "castnet: a policy has at least one device");
    static_assert(
        detail::several<detail::device_of_each<Where>, N>::on_a_cpu,
        "castnet: policy::model_parallel takes a policy::cpu; what runs several GPUs together "
        "is not there");
    using device = typename detail::several<detail::device_of_each<Where>, N>::device;
    static constexpr char const* name = "model_parallel";
};

} // namespace castnet::policy
