// Multi-process data parallelism, policy::distributed<Where>: one replica, or those of a mirrored
// policy, in every process of an MPI job: mpirun -np 4 ./train, or srun. Needs castnet::mpi.
#pragma once

#include <castnet/comm/processes.hpp>
#include <castnet/policy/cpu.hpp>
#include <castnet/policy/strategy.hpp>

namespace castnet::policy {

// With batch<B> a step takes up to B samples for every replica of the job. All processes run the
// same program on the same data, of which each reads only the samples of its replicas. If processes
// share a machine with several devices, the first takes the first ones, and so on. GPUs need
// castnet/nccl.hpp. The options are types of castnet::strategy, in addition to those of a mirrored
// policy.
template <class Where, class... Options>
struct distributed : castnet::detail::policy_or_cpu<Where> {
    static_assert(is_policy<Where>::checked);
    using strategies = typename castnet::detail::strategy_of<Where>::template with<Options...>;
    using group = comm::processes<comm::host_group_of<Where>>;
    static constexpr char const* name = "distributed";
    static int process_of_machine() { return comm::mpi{}.rank_on_machine(); }
};

} // namespace castnet::policy
