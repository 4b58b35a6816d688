// What tests may ask of the simulated NCCL, and do to it.
#pragma once

#include "machine.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <nccl.h>
#include <vector>

namespace simulated_nccl {

enum class kind { all_reduce, reduce, broadcast };

// What NCCL requires to be the same on all ranks.
struct operation {
    kind what;
    ncclDataType_t type;
    std::size_t count;
    int root; // 0 for all_reduce
    friend bool operator==(operation const&, operation const&) = default;
};
inline std::size_t bytes_of(operation const& o) {
    return o.count * (o.type == ncclFloat64 ? 8 : o.type == ncclFloat32 ? 4 : 2);
}

struct counters {
    int open = 0;        // communicators that were made and have not ended
    int collectives = 0; // that were carried out, on all ranks together
    int in_graphs = 0;   // of those, in launches of graphs
    int aborted = 0;     // communicators
    int endless = 0;     // ends of communicators that would have waited for captured graphs forever
};
inline counters count;

// The operations that were carried out together, group by group, of all communicators.
inline std::vector<std::vector<operation>> carried_out;

// A rank whose collectives never begin, from this one of its communicator on; -1: none.
inline int lost_rank = -1;
inline std::uint64_t lost_from = 0;
// Calls stay under way.
inline std::atomic<bool> is_stuck{false};
// What the communicators report when they are asked.
inline std::atomic<ncclResult_t> failure{ncclSuccess};
// Calls, but those that ask or end.
inline machine::fault calls;

} // namespace simulated_nccl
