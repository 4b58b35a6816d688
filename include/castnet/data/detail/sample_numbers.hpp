// The numbers of all samples of a data set.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/shape.hpp>

#include <new>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace castnet::data::detail {

// A number for each sample, 0; throws castnet::error where there is not enough memory for them.
[[gnu::noinline]] inline std::vector<size_t> one_for_each(size_t samples) {
    auto const refuse = [&] {
        throw error({"castnet: data: not enough memory for the numbers of ", samples,
                     " samples; give the data set as many as an epoch is to have"});
    };
    std::vector<size_t> numbers;
    try {
        numbers.resize(samples);
    } catch (std::bad_alloc const&) {
        refuse();
    } catch (std::length_error const&) {
        refuse();
    }
    return numbers;
}

// 0, 1, and so on; throws as one_for_each().
[[gnu::noinline]] inline std::vector<size_t> sample_numbers(size_t samples) {
    std::vector<size_t> numbers = one_for_each(samples);
    std::iota(numbers.begin(), numbers.end(), size_t{0});
    return numbers;
}

} // namespace castnet::data::detail
