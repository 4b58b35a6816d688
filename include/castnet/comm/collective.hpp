// Collectives of all communicators: their names, the order of their sums, and their timeout.
//
// A communicator connects replicas, which are numbered from 0. Its calls are collective: all
// replicas make the same ones in the same order, each with its own data. It has
//   int rank() const, size() const;
//   void begin_sum(std::span<T> values, collective const&);  // all-reduce
//   void begin_reduce(std::span<T> values, owners const&, collective const&);
//        // reduce-scatter: every owner gets the sums of its part; the other parts become undefined
//   void begin_share(std::span<T> values, owners const&, collective const&);
//        // all-gather: every replica gets every part from its owner
//   void progress();  // advances begun collectives without blocking
//   void finish();    // waits until all begun collectives are complete
// A collective that was begun completes in finish() at the latest; until then the values belong to
// the communicator. A replica calls progress() between its computations: collectives only advance
// in the background where a device carries them out. These calls block:
//   void sum(std::span<T> values, collective const&);  // waits for these sums only
//   void gather(std::span<std::byte const> mine, std::span<std::byte> all, collective const&);
//   void broadcast(std::span<std::byte> bytes, collective const&);  // from rank 0
// A call that waits throws castnet::error, or ends the program, if a replica does not come within
// timeout().
//
// Sums are made in one order, whatever the communicator: a binary tree over the ranks, neighbours
// first. So threads and processes get the same bits, and so does a tree of trees whose inner ones
// have 2^k leaves.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/finite.hpp>
#include <castnet/core/from_chars.hpp>
#include <castnet/core/text.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

namespace castnet::comm {

// Description of a collective for error messages.
struct collective {
    static constexpr std::uint64_t no_step = ~std::uint64_t(0);

    char const* what = "";
    int number = -1; // among such collectives of a step
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

// The environment's timeout in seconds.
[[gnu::noinline]] inline double timeout_in_environment() {
    char const* const name = "CASTNET_TIMEOUT";
    char const* const set = std::getenv(name);
    if (set == nullptr || *set == '\0') {
        return 300;
    }
    double seconds = 0; // also where it is none
    char const* const end = set + std::strlen(set);
    if (castnet::detail::from_chars(set, end, seconds).ptr != end || !(seconds > 0) ||
        !castnet::detail::is_finite(seconds)) {
        throw error({"castnet: the environment variable ", name, " is '", set,
                     "', expected a number of seconds above 0, such as 60"});
    }
    return seconds;
}

} // namespace detail

// Seconds that a replica waits for the others before it gives up; 300 unless the program or the
// environment variable CASTNET_TIMEOUT says otherwise. Throws castnet::error if the latter is no
// number above 0.
inline double& timeout() {
    static double seconds = detail::timeout_in_environment();
    return seconds;
}

// The range of `count` elements that belongs to one of `size` replicas; sizes differ by at most
// one.
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

// Ownership of values by replicas.
class owners {
public:
    // Rank 0 owns all values.
    static constexpr owners first() { return owners{{}, 0}; }
    // The values are pieces, in their order, of an array of `total` elements, of which every
    // replica owns a shard. The pieces must stay where they are.
    static constexpr owners shards(std::span<part const> pieces, std::size_t total) {
        return owners{pieces, total};
    }

    // A replica's shard: a contiguous range between multiples of `unit` elements (or the end), all
    // as equal as possible.
    static constexpr std::size_t unit = 64;
    static constexpr part shard(std::size_t total, int rank, int size) {
        part const p = part_of((total + unit - 1) / unit, rank, size);
        return {std::min(p.first * unit, total), std::min(p.last * unit, total)};
    }
    static constexpr std::size_t largest_shard(std::size_t total, int size) {
        std::size_t const units = (total + unit - 1) / unit, n = static_cast<std::size_t>(size);
        return std::min((units + n - 1) / n * unit, total);
    }

    // The values, of `count`, that the replicas [rank * together, (rank + 1) * together) own.
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

    // The number of values before element i of the array.
    constexpr std::size_t before(std::size_t i) const {
        std::size_t count = 0;
        for (part const& p : pieces_) {
            count += i <= p.first ? 0 : std::min(i, p.last) - p.first;
        }
        return count;
    }

    std::span<part const> pieces_;
    std::size_t total_; // 0: rank 0 owns all
};

namespace detail {

// The operation of a collective on the values of all replicas.
struct exchange_kind {
    bool adds = true, shares = true; // reduces to the owners; sends from the owners to all
    owners to = owners::first();     // not for all-reduce, whose result does not depend on them
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
template <class C>
concept Communicator = requires(C& c, std::span<float> values, std::span<std::byte> bytes,
                                owners const& of, collective const& at) {
    { c.rank() } -> std::convertible_to<int>;
    { c.size() } -> std::convertible_to<int>;
    c.begin_sum(values, at);
    c.begin_reduce(values, of, at);
    c.begin_share(values, of, at);
    c.progress();
    c.finish();
    c.sum(values, at);
    c.gather(bytes, bytes, at);
    c.broadcast(bytes, at);
};

} // namespace castnet::comm
