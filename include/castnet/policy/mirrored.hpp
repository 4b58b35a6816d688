// policy::mirrored<Where, N>: N replicas in one process, each on a device of its own, that take the
// same steps as one would with N times the batch. On a CPU each replica has a share of the threads.
// policy::logical<Where, N>: the same on one device.
#pragma once

#include <castnet/comm/threads.hpp>
#include <castnet/policy/cpu.hpp>
#include <castnet/policy/strategy.hpp>

namespace castnet::policy {

// With batch<B> a step takes up to N * B samples, of which every replica computes an equal part.
// The numbers of a run depend on N and B, and not on how many cores share the work. Without an N
// there is a replica for each device that the program sees, or for each of castnet::devices; the
// CPU is one device. Several GPUs need castnet/nccl.hpp. The options are types of
// castnet::strategy.
template <class Where, int N, class... Options>
struct mirrored : castnet::detail::policy_or_cpu<Where> {
    static_assert(is_policy<Where>::checked);
    using strategies = typename castnet::detail::strategy_of<Where>::template with<Options...>;
    using group = comm::threads<N>;
    static constexpr int replicas = N;
    static constexpr char const* name = "mirrored";
};

// Sums over replicas are made in the host's memory, in the order of comm/collective.hpp, whatever
// the device: every step waits for its copies, but the bits are those of any policy with as many
// replicas of that device, and GPUs need no NCCL.
template <class Where>
struct host_sums : castnet::detail::policy_or_cpu<Where> {
    static_assert(is_policy<Where>::checked);
    static constexpr bool uses_nccl = false;
};

// N replicas on the one device that Where means, to test on it what is to run on N.
template <class Where, int N, class... Options>
struct logical : mirrored<host_sums<Where>, N, Options...> {
    static constexpr bool share_a_device = true;
    static constexpr char const* name = "logical";
};

} // namespace castnet::policy
