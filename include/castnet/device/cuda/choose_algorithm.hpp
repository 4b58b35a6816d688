// Selection of an algorithm of cuDNN or cuBLASLt, by the library's heuristic or by timing.
#pragma once

#include <castnet/device/cuda/algorithm_cache.hpp>
#include <castnet/device/cuda/algorithm_order.hpp>
#include <castnet/device/cuda/description.hpp>
#include <castnet/device/cuda/tuning.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace castnet::cuda {

//   what             a line that says what is computed, and the library's version
//   list(count, n)   at most `count` candidates; only the one with number n if that is not empty
//   fastest(all)     as for algorithm_cache::choose
//
// Empty if the list is.
template <class List, class Fastest>
auto choose_algorithm(algorithm_order order, std::string const& what, List const& list,
                      Fastest const& fastest) {
    if (order == algorithm_order::by_time) {
        return algorithm_cache::of_process().choose(
            what + ", " + text_of_current_device(),
            [&](std::optional<int> number) { return list(timed_algorithms, number); }, fastest);
    }
    auto found = list(std::size_t{1}, std::optional<int>{});
    return found.empty() ? std::nullopt : std::optional{std::move(found.front())};
}

} // namespace castnet::cuda
