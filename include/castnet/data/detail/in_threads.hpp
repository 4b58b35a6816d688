// Parallel loops on threads of their own, for work that is done once.
#pragma once

#include <castnet/core/own_threads.hpp>
#include <castnet/data/sample_error.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace castnet::data::detail {

// Calls f(i) for all i below count, on this thread and as many others as the machine has, or as the
// system starts. f throws nothing.
template <class F>
void for_each_in_threads(std::size_t count, F const& f) {
    std::atomic<std::size_t> next = 0;
    auto const work = [&] {
        for (std::size_t k = next++; k < count; k = next++) {
            f(k);
        }
    };
    castnet::detail::own_threads others;
    for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) {
        try {
            others.start(work);
        } catch (error const&) {
            break; // the system starts no more
        }
    }
    work();
}

// Calls use(make(i)) for all samples i below count: make in threads, use in order, on this one.
// Throws what the first call of make that fails has thrown, see reading_sample, after the uses
// before it.
template <class Result, class Make, class Use>
void make_in_threads(std::size_t count, Make const& make, Use const& use) {
    constexpr std::size_t at_once = 64; // results that are held
    for (std::size_t first = 0; first < count; first += at_once) {
        std::size_t const here = std::min(at_once, count - first);
        std::vector<Result> results(here);
        std::vector<std::exception_ptr> failures(here);
        for_each_in_threads(here, [&](std::size_t i) {
            try {
                results[i] = data::reading_sample(first + i, [&] { return make(first + i); });
            } catch (...) {
                failures[i] = std::current_exception();
            }
        });
        for (std::size_t i = 0; i < here; ++i) {
            if (failures[i]) {
                std::rethrow_exception(failures[i]);
            }
            use(results[i]);
        }
    }
}

} // namespace castnet::data::detail
