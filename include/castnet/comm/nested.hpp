// Groups of replicas, each with a communicator inside, whose first members have one among
// themselves: threads in processes.
#pragma once

#include <castnet/comm/collective.hpp>

#include <span>

namespace castnet::comm {

template <class Inner, class Outer>
class nested {
public:
    nested(Inner& inner, Outer& outer) : inner_{inner}, outer_{outer} {}

    int rank() const { return outer_.rank() * inner_.size() + inner_.rank(); }
    int size() const { return outer_.size() * inner_.size(); }

    template <class T>
    void sum(std::span<T> values, collective const& at) {
        inner_.sum(values, at);
        if (inner_.rank() == 0) {
            outer_.sum(values, at);
        }
        inner_.broadcast(std::as_writable_bytes(values), at);
    }

    void gather(std::span<std::byte const> mine, std::span<std::byte> all, collective const& at) {
        std::size_t const bytes = mine.size() * static_cast<std::size_t>(inner_.size());
        auto const here = all.subspan(static_cast<std::size_t>(outer_.rank()) * bytes, bytes);
        inner_.gather(mine, here, at);
        if (inner_.rank() == 0) {
            outer_.gather(here, all, at);
        }
        inner_.broadcast(all, at);
    }

    void broadcast(std::span<std::byte> bytes, collective const& at) {
        if (inner_.rank() == 0) {
            outer_.broadcast(bytes, at);
        }
        inner_.broadcast(bytes, at);
    }

private:
    Inner& inner_;
    Outer& outer_;
};

} // namespace castnet::comm
