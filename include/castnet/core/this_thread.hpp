// Identity of the calling thread. (std::this_thread would bring <chrono> and <thread>.)
#pragma once

#include <castnet/core/language.hpp>

namespace castnet {

// An even address, which no other thread has at the same time.
inline void const* this_thread() {
    alignas(2) static thread_local char here = 0;
    return &here;
}

} // namespace castnet
