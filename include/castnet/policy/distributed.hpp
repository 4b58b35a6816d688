// policy::distributed<Where>: one replica, or those of a mirrored policy, in every process of an
// MPI job: mpirun -np 4 ./train, or srun. Needs castnet::mpi.
#pragma once

#include <castnet/comm/processes.hpp>
#include <castnet/policy/cpu.hpp>
#include <castnet/policy/strategy.hpp>

namespace castnet {

namespace comm {

// The group of the replicas of several processes: by default they add up in the host's memory.
// castnet/nccl.hpp has another one for GPUs.
template <class Where>
struct distributed_group {
    static_assert(
        !requires { requires Where::uses_nccl; },
        "castnet: replicas on several GPUs add up by NCCL: include <castnet/nccl.hpp> "
        "before policy::distributed is used, and link castnet::nccl; or use "
        "policy::host_sums");
    using type = processes<group_of<Where>>;
};

} // namespace comm

namespace policy {

// With batch<B> a step takes up to B samples for every replica of the job. All processes run the
// same program on the same data, of which each reads what its replicas compute. Where processes
// share a machine with several devices, the first takes the first ones, and so on.
// The options are types of castnet::strategy, and add to those of a mirrored policy.
template <Policy Where, class... Options>
struct distributed : Where {
    using strategies = typename detail::strategy_of<Where>::template with<Options...>;
    using group = typename comm::distributed_group<Where>::type;
    static constexpr char const* name = "distributed";
    static int process_of_machine() { return comm::mpi{}.rank_on_machine(); }
};

} // namespace policy
} // namespace castnet
