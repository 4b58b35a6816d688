// Loop in as many threads as the machine runs, for work that is done once.
#pragma once

#include <castnet/core/language.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace castnet::data::detail {

// Calls f(i) for all i below count. f throws nothing.
template <class F>
void for_each_in_threads(std::size_t count, F const& f) {
    std::atomic<std::size_t> next = 0;
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(std::thread::hardware_concurrency(), 1U); ++i) {
        threads.emplace_back([&] {
            for (std::size_t k = next++; k < count; k = next++) {
                f(k);
            }
        });
    }
}

} // namespace castnet::data::detail
