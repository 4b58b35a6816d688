// One replica: nothing to communicate.
#pragma once

#include <castnet/comm/collective.hpp>

#include <type_traits>

namespace castnet::comm {

struct no_communicator {
    static constexpr int rank() { return 0; }
    static constexpr int size() { return 1; }
};

// The replicas of this process, and the communicator that connects each to all others. A group has
//   explicit group(int local);     // so many replicas in this process
//   int local() const;
//   int first() const, size() const;  // the rank of the first of them, the number of all replicas
//   void run(f);  // calls f(i, communicator) for each of the local replicas at the same time, and
//                 // returns when all have returned; f(0, …) in the thread of the caller. What one
//                 // throws ends all.
// and, where it has the replicas of several processes,
//   static constexpr bool has_processes = true;
//   auto guarded(f);  // f() of this process alone; what it throws ends the job
struct alone {
    explicit constexpr alone(int) {}
    static constexpr int local() { return 1; }
    static constexpr int first() { return 0; }
    static constexpr int size() { return 1; }

    template <class F>
    void run(F const& f) {
        no_communicator c;
        f(0, c);
    }
};

// Adds NCCL to a group whose replicas have a GPU each: castnet/nccl.hpp.
template <class Group>
class with_nccl;

namespace detail {
template <class Where>
struct groups {
    using in_host = alone;
    using all = alone;
};
template <class Where>
    requires requires { typename Where::group; }
struct groups<Where> {
    static constexpr bool by_nccl = requires { requires Where::uses_nccl; };
    using in_host = typename Where::group;
    using all = std::conditional_t<by_nccl, with_nccl<in_host>, in_host>;
};
} // namespace detail

// The group of the replicas that a policy asks for, and the one that it is in the memory of the
// host.
template <class Where>
using group_of = typename detail::groups<Where>::all;
template <class Where>
using host_group_of = typename detail::groups<Where>::in_host;

} // namespace castnet::comm
