// Messages of a device's values: ranges of its memory as one array. Messages are numbered, and each
// stays valid until the next one of its number.
#pragma once

#include <castnet/device/ir.hpp>
#include <castnet/plan/communication.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace castnet::cpu::inline CASTNET_TARGET {

// (A single range is its own message, since the memory is the host's.)
template <class T>
class messages {
public:
    // Copies these ranges to a message, one after the other.
    template <class Context>
    std::span<T> read(std::size_t number, std::span<element_range const> ranges, Context const& c) {
        if (ranges.size() == 1) {
            return {begin_of(ranges[0], c), std::size_t(ranges[0].count)};
        }
        if (all_.size() <= number) {
            all_.resize(number + 1);
        }
        std::vector<T>& one = all_[number];
        one.clear();
        for (element_range const& r : ranges) {
            T const* const from = begin_of(r, c);
            one.insert(one.end(), from, from + r.count);
        }
        return one;
    }

    // Copies the message back to the ranges.
    template <class Context>
    void write(std::size_t number, std::span<element_range const> ranges, Context const& c) {
        if (ranges.size() == 1) {
            return;
        }
        T const* from = all_[number].data();
        for (element_range const& r : ranges) {
            std::copy_n(from, r.count, begin_of(r, c));
            from += r.count;
        }
    }

private:
    template <class Context>
    static T* begin_of(element_range const& r, Context const& c) {
        return c.region[int(r.where)] + r.offset;
    }

    std::vector<std::vector<T>> all_; // of several ranges
};

} // namespace castnet::cpu::inline CASTNET_TARGET
