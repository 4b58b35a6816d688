// One replica: nothing to communicate.
#pragma once

#include <castnet/comm/collective.hpp>

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

template <class Where>
struct group_of_policy {
    using type = alone;
};
template <class Where>
    requires requires { typename Where::group; }
struct group_of_policy<Where> {
    using type = typename Where::group;
};
// The group that a policy asks for.
template <class Where>
using group_of = typename group_of_policy<Where>::type;

} // namespace castnet::comm
