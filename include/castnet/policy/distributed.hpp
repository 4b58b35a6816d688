// policy::distributed<Where>: one replica, or those of a mirrored policy, in every process of an
// MPI job: mpirun -np 4 ./train, or srun. Needs castnet::mpi.
#pragma once

#include <castnet/comm/processes.hpp>
#include <castnet/policy/cpu.hpp>

namespace castnet::policy {

// With batch<B> a step takes up to B samples for every replica of the job. All processes run the
// same program on the same data, of which each reads what its replicas compute.
template <Policy Where>
struct distributed : Where {
    using group = comm::processes<comm::group_of<Where>>;
    static constexpr char const* name = "distributed";
};

} // namespace castnet::policy
