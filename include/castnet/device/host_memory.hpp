// Host memory with the interface of a session: read() and write().
#pragma once

#include <castnet/core/language.hpp>

#include <cstddef>

namespace castnet::ir {

struct host_memory {
    // Calls use(numbers) with `count` numbers of the memory, or fill(numbers), which writes them
    // all.
    template <class T, class F>
    void read(T const* from, std::ptrdiff_t, F const& use) const {
        use(from);
    }
    template <class T, class F>
    void write(T* to, std::ptrdiff_t, F const& fill) const {
        fill(to);
    }
};

} // namespace castnet::ir
