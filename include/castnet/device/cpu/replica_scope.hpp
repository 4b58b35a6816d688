// The threads of OpenMP, shared by the replicas of a process.
#pragma once

#ifdef _OPENMP
#include <omp.h>
#endif

namespace castnet::cpu {

// While it lives, parallel loops of this thread use its share of the machine.
class replica_scope {
public:
    replica_scope([[maybe_unused]] int replica, [[maybe_unused]] int replicas) {
#ifdef _OPENMP
        if (replicas > 1) {
            before_ = omp_get_max_threads();
            int const all = omp_get_num_procs() < before_ ? omp_get_num_procs() : before_;
            omp_set_num_threads(all > replicas ? all / replicas : 1);
        }
#endif
    }
    replica_scope(replica_scope const&) = delete;
    replica_scope& operator=(replica_scope const&) = delete;
    ~replica_scope() {
#ifdef _OPENMP
        if (before_ > 0) {
            omp_set_num_threads(before_);
        }
#endif
    }

private:
    [[maybe_unused]] int before_ = 0;
};

} // namespace castnet::cpu
