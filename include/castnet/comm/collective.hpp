// What every communicator has in common: what a collective is called, the order of its sums, and
// how long it may take.
//
// A communicator connects replicas, which are numbered from 0. Its calls are collective: all
// replicas make the same ones in the same order, each with its own data, and a call returns when
// this replica's part is done. It has
//   int rank() const, size() const;
//   void sum(std::span<T> values, collective const&);  // afterwards everybody has the sums
//   void gather(std::span<std::byte const> mine, std::span<std::byte> all, collective const&);
//   void broadcast(std::span<std::byte> bytes, collective const&);  // from rank 0
// and throws castnet::error, or ends the program, where a replica does not come within deadline().
//
// Sums are made in one order, whatever the communicator: a binary tree over the ranks, neighbours
// first. So threads and processes get the same bits, and so does a tree of trees whose inner ones
// have 2^k leaves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace castnet::comm {

// One collective, for messages.
struct collective {
    char const* what = "";
    int number = -1; // of several such in a step
    std::uint64_t step = 0;

    std::string text() const {
        std::string s = std::string("step ") + std::to_string(step) + ", " + what;
        return number < 0 ? s : s + " " + std::to_string(number);
    }
};

// Seconds that a replica waits for the others before it gives up; 300 unless the program or the
// environment variable CASTNET_DEADLINE says otherwise.
inline double& deadline() {
    static double seconds = [] {
        char const* const text = std::getenv("CASTNET_DEADLINE");
        double const value = text != nullptr ? std::atof(text) : 0;
        return value > 0 ? value : 300.0;
    }();
    return seconds;
}

// The part of `count` things that belongs to one of `size` replicas: contiguous, as equal as can
// be.
struct part {
    std::size_t first, last;
    constexpr std::size_t count() const { return last - first; }
};
constexpr part part_of(std::size_t count, int rank, int size) {
    auto const r = static_cast<std::size_t>(rank), n = static_cast<std::size_t>(size);
    // count * r / n, without overflow
    auto const begin = [=](std::size_t i) { return count / n * i + count % n * i / n; };
    return {begin(r), begin(r + 1)};
}

namespace detail {

// row(0)[i] = the sum of row(r)[i] over 0 <= r < count, for first <= i < last; the other rows are
// overwritten.
template <class Row>
void tree_sum(Row const& row, int count, std::size_t first, std::size_t last) {
    constexpr std::size_t piece = 1024; // of every row; stays in the cache between the passes
    for (std::size_t begin = first; begin < last; begin += piece) {
        std::size_t const end = last - begin > piece ? begin + piece : last;
        for (int step = 1; step < count; step *= 2) {
            for (int r = 0; r + step < count; r += 2 * step) {
                auto* const to = row(r);
                auto const* const from = row(r + step);
                for (std::size_t i = begin; i < end; ++i) {
                    to[i] += from[i];
                }
            }
        }
    }
}

} // namespace detail
} // namespace castnet::comm
