// Group of a single replica, and the choice of a policy's group.
#pragma once

#include <castnet/comm/collective.hpp>

#include <type_traits>

namespace castnet::comm {

struct no_communicator {
    static constexpr int rank() { return 0; }
    static constexpr int size() { return 1; }
};

// A group: the replicas of this process, each with a communicator to all others. It has
//   explicit group(int local);     // `local` replicas in this process
//   int local() const;
//   int first() const, size() const;  // the rank of the first of them, the number of all replicas
//   void run(f);  // calls f(i, communicator) for each of the local replicas at the same time, and
//                 // returns when all have returned; f(0, …) in the caller's thread. An exception
//                 // of one ends all.
// and, where it has the replicas of several processes,
//   static constexpr bool has_processes = true;
//   auto guarded(f);  // f() on this process only; its exceptions end the job
struct single_replica {
    explicit constexpr single_replica(int) {}
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
    using in_host = single_replica;
    using all = single_replica;
};
template <class Where>
    requires requires { typename Where::group; }
struct groups<Where> {
    static constexpr bool by_nccl = requires { requires Where::uses_nccl; };
    using in_host = typename Where::group;
    using all = std::conditional_t<by_nccl, with_nccl<in_host>, in_host>;
};
} // namespace detail

// The group of a policy's replicas, and the group that it uses in host memory.
template <class Where>
using group_of = typename detail::groups<Where>::all;
template <class Where>
using host_group_of = typename detail::groups<Where>::in_host;

template <class G>
concept Group = requires(G& group) {
    { group.local() } -> std::convertible_to<int>;
    { group.first() } -> std::convertible_to<int>;
    { group.size() } -> std::convertible_to<int>;
};
static_assert(Group<single_replica>);

} // namespace castnet::comm
