// The host's own memory, read and written as a session does the memory of its device.
#pragma once

#include <castnet/core/language.hpp>

#include <cstddef>

namespace castnet {

struct host_memory {
    // use(numbers) with `count` numbers of the memory; fill(numbers) is to write them all.
    template <class T, class F>
    void read(T const* from, std::ptrdiff_t, F const& use) const {
        use(from);
    }
    template <class T, class F>
    void write(T* to, std::ptrdiff_t, F const& fill) const {
        fill(to);
    }
};

} // namespace castnet
