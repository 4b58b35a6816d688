// Choice of one of a library's plans, as the policy says.
#pragma once

#include <castnet/device/cuda/description.hpp>
#include <castnet/device/cuda/plan_cache.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace castnet::cuda {

// The first one of the list, which is the library's guess; or the one that takes the least time on
// the GPU that is current, of so many at the top of the list.
enum class plan_order : bool { as_listed, by_time };
inline constexpr std::size_t timed_plans = 8;

//   what             a line that says what is computed, and the library's version
//   list(count, n)   at most so many candidates; only the one with number n if that is not empty
//   fastest(all)     as for plan_cache::choose
//
// Empty if the list is.
template <class List, class Fastest>
auto choose_plan(plan_order order, std::string const& what, List const& list,
                 Fastest const& fastest) {
    if (order == plan_order::by_time) {
        return plan_cache::of_process().choose(
            what + ", " + text_of_current_device(),
            [&](std::optional<int> number) { return list(timed_plans, number); }, fastest);
    }
    auto found = list(std::size_t{1}, std::optional<int>{});
    return found.empty() ? std::nullopt : std::optional{std::move(found.front())};
}

} // namespace castnet::cuda
