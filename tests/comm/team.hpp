// The replicas that the tests of strategies train with: threads in as many numbers as there are to
// be tested, or, where CASTNET_TEST_PROCESSES is defined, the processes of the job.
#pragma once

#include <castnet/policy/cpu.hpp>
#include <castnet/policy/devices.hpp>

#include <vector>

#ifdef CASTNET_TEST_PROCESSES
#include <castnet/policy/distributed.hpp>
#endif
#include <castnet/policy/mirrored.hpp>

namespace replicas_test {

// So many replicas of this process.
inline castnet::devices some(int count) {
    return castnet::devices{std::vector<int>(std::size_t(count))};
}

template <class Where, class... Options>
using threads_of = castnet::policy::mirrored<Where, 0, Options...>;

#ifdef CASTNET_TEST_PROCESSES

template <class Where, class... Options>
using team_of = castnet::policy::distributed<Where, Options...>;

inline std::vector<int> team_sizes() {
    return {castnet::comm::mpi{}.size()};
}
inline castnet::devices team(int) {
    return some(1);
}
// Every process calls it; what one of them has written before, all can read behind it.
inline void meet() {
    castnet::comm::mpi all;
    std::vector<std::byte> from(std::size_t(all.size()));
    std::byte const mine{};
    all.gather({&mine, 1}, from, {"meeting of the test"});
}
// The same number in the whole team.
inline int of_first(int number) {
    castnet::comm::mpi{}.broadcast(std::as_writable_bytes(std::span{&number, 1}),
                                   {"number of the test"});
    return number;
}
inline int rank() {
    return castnet::comm::mpi{}.rank();
}

#else

template <class Where, class... Options>
using team_of = threads_of<Where, Options...>;

inline std::vector<int> team_sizes() {
    return {1, 2, 3, 4, 8};
}
inline castnet::devices team(int size) {
    return some(size);
}
inline void meet() {}
inline int of_first(int number) {
    return number;
}
inline int rank() {
    return 0;
}

#endif

} // namespace replicas_test
