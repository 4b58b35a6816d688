// Single-process data parallelism, policy::mirrored<Where, N>: N replicas, each on its own device,
// that take the same steps as one replica with N times the batch. On a CPU each replica has a share
// of the threads. policy::logical<Where, N>: the same on one device.
#pragma once

#include <castnet/comm/threads.hpp>
#include <castnet/policy/cpu.hpp>
#include <castnet/policy/strategy.hpp>

namespace castnet::policy {

// With batch<B> a step takes up to N * B samples, of which every replica computes an equal part.
// The results of a run depend on N and B, but not on the number of cores. Without N there is a
// replica for each device that the program sees, or for each of castnet::devices; the CPU is one
// device. Several GPUs need castnet/nccl.hpp. The options are types of
// castnet::strategy.
template <class Where, int N, class... Options>
struct mirrored : castnet::detail::policy_or_cpu<Where> {
    static_assert(is_policy<Where>::checked);
    static_assert(
        !requires { Where::replicas; },
        "castnet: policy::mirrored takes a policy of one replica: write the number of all "
        "replicas once");
    using strategies = typename castnet::detail::strategy_of<Where>::template with<Options...>;
    using group = comm::threads<N>;
    static constexpr int replicas = N;
    static constexpr char const* name = "mirrored";
};

// Sums over replicas in the host's memory, in the order of comm/collective.hpp, for any device:
// every step waits for the copies, but the bits are those of any policy with the same number of
// replicas of that device, and GPUs need no NCCL.
template <class Where>
struct host_reduction : castnet::detail::policy_or_cpu<Where> {
    static_assert(is_policy<Where>::checked);
    static constexpr bool uses_nccl = false;
};

// N replicas on the single device of Where, to test a program for N devices.
template <class Where, int N, class... Options>
struct logical : mirrored<host_reduction<Where>, N, Options...> {
    static_assert(N >= 1, "castnet: policy::logical has at least one replica");
    static constexpr bool share_a_device = true;
    static constexpr char const* name = "logical";
};

} // namespace castnet::policy
