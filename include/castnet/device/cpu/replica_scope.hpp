// Scope that divides OpenMP's threads among the replicas of a process.
#pragma once

#include <castnet/device/cpu/threads.hpp>

namespace castnet::cpu::inline CASTNET_TARGET {

// While it lives, parallel loops of this thread use its share of the machine.
class replica_scope {
public:
    replica_scope(int, int replicas) {
        if (replicas > 1) {
            before_ = thread_count();
            set_thread_count(thread_share(replicas));
        }
    }
    replica_scope(replica_scope const&) = delete;
    replica_scope& operator=(replica_scope const&) = delete;
    ~replica_scope() {
        if (before_ > 0) {
            set_thread_count(before_);
        }
    }

private:
    int before_ = 0;
};

} // namespace castnet::cpu::inline CASTNET_TARGET
