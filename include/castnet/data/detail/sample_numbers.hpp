// The numbers of all samples of a data set.
#pragma once

#include <castnet/core/room_for.hpp>
#include <castnet/core/shape.hpp>

#include <array>
#include <numeric>
#include <vector>

namespace castnet::data::detail {

// A number for each sample, 0; throws castnet::error where there is not enough memory for them.
inline std::vector<size_t> one_for_each(size_t samples) {
    return castnet::detail::room_for<size_t>(samples, 1, "data",
                                             "give the data set as many as an epoch is to have");
}

// 0, 1, and so on; throws as one_for_each().
[[gnu::noinline]] inline std::vector<size_t> sample_numbers(size_t samples) {
    std::vector<size_t> numbers = one_for_each(samples);
    std::iota(numbers.begin(), numbers.end(), size_t{0});
    return numbers;
}

// The first of them as a constant, for which no memory is allocated.
template <size_t Samples>
inline constexpr auto first_sample_numbers = [] {
    std::array<size_t, Samples> numbers{};
    std::iota(numbers.begin(), numbers.end(), size_t{0});
    return numbers;
}();

} // namespace castnet::data::detail
