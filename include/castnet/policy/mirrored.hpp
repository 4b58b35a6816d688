// policy::mirrored<Where, N>: N replicas in one process, each on a device of its own, that take the
// same steps as one would with N times the batch. On a CPU each replica has a share of the threads.
#pragma once

#include <castnet/comm/threads.hpp>
#include <castnet/policy/cpu.hpp>

namespace castnet::policy {

// With batch<B> a step takes up to N * B samples, of which every replica computes an equal part.
// The numbers of a run depend on N and B, and not on how many cores share the work.
template <Policy Where, int N>
struct mirrored : Where {
    using group = comm::threads<N>;
    static constexpr char const* name = "mirrored";
};

} // namespace castnet::policy
