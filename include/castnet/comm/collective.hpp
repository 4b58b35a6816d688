// Common parts of all communicators: the names of collectives, the order of their sums, and how
// long they may take.
//
// A communicator connects replicas, which are numbered from 0. Its calls are collective: all
// replicas make the same ones in the same order, each with its own data. It has
//   int rank() const, size() const;
//   void begin_sum(std::span<T> values, collective const&);  // everybody gets the sums
//   void begin_reduce(std::span<T> values, owners const&, collective const&);
//        // every owner gets the sums of its part; what is in the others is of no use then
//   void begin_share(std::span<T> values, owners const&, collective const&);
//        // everybody gets every part from its owner
//   void progress();  // goes on with what was begun, as far as that needs no waiting
//   void finish();    // waits until all that was begun is done
// What begins is done by finish() at the latest, and until then the values are the communicator's.
// While it computes, a replica calls progress() now and then: collectives go on behind its back
// only where a device carries them out. These wait:
//   void sum(std::span<T> values, collective const&);  // for these sums, not for what was begun
//   void gather(std::span<std::byte const> mine, std::span<std::byte> all, collective const&);
//   void broadcast(std::span<std::byte> bytes, collective const&);  // from rank 0
// Who waits throws castnet::error, or ends the program, where a replica does not come within
// deadline().
//
// Sums are made in one order, whatever the communicator: a binary tree over the ranks, neighbours
// first. So threads and processes get the same bits, and so does a tree of trees whose inner ones
// have 2^k leaves.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/text.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

namespace castnet::comm {

// One collective, for messages.
struct collective {
    static constexpr std::uint64_t no_step = ~std::uint64_t(0);

    char const* what = "";
    int number = -1; // of several such in a step
    std::uint64_t step = no_step;

    std::string text() const {
        std::string s;
        if (step != no_step) {
            append(s, {"step ", step, ", "});
        }
        append(s, {what});
        if (number >= 0) {
            append(s, {' ', number});
        }
        return s;
    }
};

namespace detail {

// What the environment says of the deadline, in seconds.
[[gnu::cold]] inline double deadline_in_environment() {
    char const* const name = "CASTNET_DEADLINE";
    char const* const set = std::getenv(name);
    if (set == nullptr || *set == '\0') {
        return 300;
    }
    char* end = nullptr;
    double const seconds = std::strtod(set, &end);
    if (*end != '\0' || !(seconds > 0) || !std::isfinite(seconds)) {
        throw error({"castnet: the environment variable ", name, " is '", set,
                     "', expected a number of seconds above 0, such as 60"});
    }
    return seconds;
}

} // namespace detail

// Seconds that a replica waits for the others before it gives up; 300 unless the program or the
// environment variable CASTNET_DEADLINE says otherwise. Throws castnet::error if the latter is no
// number above 0.
inline double& deadline() {
    static double seconds = detail::deadline_in_environment();
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

// Which replica a part of some values belongs to.
class owners {
public:
    // All to rank 0.
    static constexpr owners first() { return owners{{}, 0}; }
    // The values are pieces, in their order, of an array of `total` elements, of which every
    // replica owns a shard. The pieces must stay where they are.
    static constexpr owners shards(std::span<part const> pieces, std::size_t total) {
        return owners{pieces, total};
    }

    // A replica's shard: contiguous, as equal as can be, from and to a multiple of `unit` elements
    // or the end.
    static constexpr std::size_t unit = 64;
    static constexpr part shard(std::size_t total, int rank, int size) {
        part const p = part_of((total + unit - 1) / unit, rank, size);
        return {std::min(p.first * unit, total), std::min(p.last * unit, total)};
    }
    static constexpr std::size_t largest_shard(std::size_t total, int size) {
        std::size_t const units = (total + unit - 1) / unit, n = static_cast<std::size_t>(size);
        return std::min((units + n - 1) / n * unit, total);
    }

    // Of `count` values those of the replicas [rank * together, (rank + 1) * together).
    constexpr part of(std::size_t count, int rank, int size, int together = 1) const {
        if (total_ == 0) {
            return {0, rank == 0 ? count : 0};
        }
        int const all = size * together, first = rank * together;
        return {before(shard(total_, first, all).first),
                before(shard(total_, first + together - 1, all).last)};
    }

private:
    constexpr owners(std::span<part const> pieces, std::size_t total)
        : pieces_{pieces}, total_{total} {}

    // How many of the values lie before element i of the array.
    constexpr std::size_t before(std::size_t i) const {
        std::size_t count = 0;
        for (part const& p : pieces_) {
            count += i <= p.first ? 0 : std::min(i, p.last) - p.first;
        }
        return count;
    }

    std::span<part const> pieces_;
    std::size_t total_; // 0: all to rank 0
};

namespace detail {

// What a collective does with the values of all replicas.
struct exchange_kind {
    bool adds = true, shares = true; // sums for the owners; from the owners to all
    owners to = owners::first();     // unless both: then who sums up what does not show
};

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
