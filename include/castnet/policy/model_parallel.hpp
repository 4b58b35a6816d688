// Model parallelism, policy::model_parallel<Where, N>: a network on N devices, on which
// on<0, layers…> to on<N - 1, layers…> place its parts. Parts that do not wait for each other run
// at the same time.
#pragma once

#include <castnet/device/cpu/devices.hpp>
#include <castnet/policy/cpu.hpp>

namespace castnet::policy {

namespace detail {

// How many devices of a kind run one network together: Device::several<N>.
template <class Device, int N>
struct several {
    static constexpr bool exist = false;
    using device = Device;
};
template <class Device, int N>
    requires requires { typename Device::template several<N>; } && (ir::device_count<Device> == 1)
struct several<Device, N> {
    static constexpr bool exist = true;
    using device = typename Device::template several<N>;
};
template <class Where>
using device_of_each = typename castnet::detail::policy_or_cpu<Where>::device;

} // namespace detail

// N devices. Of a CPU: threads, each with an equal share of all threads. Of policy::cuda (with
// castnet/cuda.hpp): GPUs, those of castnet::devices or the first N from that of the policy on,
// each with the memory of its parts; the same GPU may be named several times. Results that another
// device reads are copied at once, parameters once in every step; gradients are added up on the
// device of the parameter, which updates it. The steps are those of the same network on Where. On
// CPUs for data parallelism, too: mirrored<model_parallel<policy::cpu, N>, M>.
template <class Where, int N>
struct model_parallel : castnet::detail::policy_or_cpu<Where> {
    static_assert(is_policy<Where>::checked);
    static_assert(N >= 1, "castnet: a policy has at least one device");
    static_assert(detail::several<detail::device_of_each<Where>, N>::exist,
                  "castnet: policy::model_parallel takes a policy of one device: policy::cpu, or "
                  "policy::cuda and its variants");
    using device = typename detail::several<detail::device_of_each<Where>, N>::device;
    static constexpr char const* name = "model_parallel";
};

} // namespace castnet::policy
