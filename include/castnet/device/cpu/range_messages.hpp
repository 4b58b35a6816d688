// Messages to other replicas: ranges of a device's memory as one array.
#pragma once

#include <castnet/device/ir.hpp>
#include <castnet/plan/communication.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace castnet::cpu::inline CASTNET_TARGET {

// Messages are numbered, and each stays valid until the next one of its number. A single range is
// its own message, since the memory is the host's.
template <class T>
class range_messages {
public:
    template <class Context>
    std::span<T> message(std::size_t number, std::span<element_range const> ranges,
                         Context const& c) {
        if (ranges.size() == 1) {
            return {begin_of(ranges[0], c), std::size_t(ranges[0].count)};
        }
        if (messages_.size() <= number) {
            messages_.resize(number + 1);
        }
        std::vector<T>& all = messages_[number];
        all.clear();
        for (element_range const& r : ranges) {
            T const* const from = begin_of(r, c);
            all.insert(all.end(), from, from + r.count);
        }
        return all;
    }

    // Writes a message back into these ranges.
    template <class Context>
    void accept(std::size_t number, std::span<element_range const> ranges, Context const& c) {
        if (ranges.size() == 1) {
            return;
        }
        T const* from = messages_[number].data();
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

    std::vector<std::vector<T>> messages_; // of several ranges
};

} // namespace castnet::cpu::inline CASTNET_TARGET
