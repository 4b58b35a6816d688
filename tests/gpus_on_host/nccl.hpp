// What tests may ask of the simulated NCCL, and do to it.
#pragma once

#include <nccl.h>

namespace simulated_nccl {

struct counters {
    int open = 0;        // communicators that were made and have not ended
    int collectives = 0; // that were carried out, on all ranks together
    int in_graphs = 0;   // of those, in launches of graphs
    int aborted = 0;     // communicators
};
inline counters count;

// A rank whose collectives never begin; -1: none.
inline int lost_rank = -1;
// What the communicators report when they are asked.
inline ncclResult_t failure = ncclSuccess;

} // namespace simulated_nccl
