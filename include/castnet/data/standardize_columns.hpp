// Standardized columns of a table: each with mean 0 and deviation 1.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/finite.hpp>
#include <castnet/data/description.hpp>
#include <castnet/data/statistics.hpp>

#include <cmath>
#include <span>
#include <vector>

namespace castnet::data {

namespace detail {

[[gnu::noinline]] inline void check_rows(char const* whose, std::size_t numbers,
                                         std::size_t columns) {
    if (columns == 0 || numbers % columns != 0) {
        throw error({"castnet: data::", whose, ": found ", quantity(numbers, "number"),
                     ", expected whole rows of ", columns});
    }
}

template <class T>
[[gnu::noinline]] channel_statistics statistics_of_columns(std::span<T const> table,
                                                           std::size_t columns) {
    check_rows("statistics_of_columns", table.size(), columns);
    channel_statistics all;
    for (std::size_t c = 0; c < columns; ++c) {
        moments there;
        for (std::size_t i = c; i < table.size(); i += columns) {
            bool const is_missing = castnet::detail::is_nan(table[i]);
            if (!is_missing && !castnet::detail::is_finite(table[i])) {
                throw error({"castnet: data::statistics_of_columns: row ", i / columns, ", column ",
                             c, ", both from 0, is ", double(table[i]),
                             "; give it a finite number, or NaN if it is missing"});
            }
            if (!is_missing) {
                there.add({.count = 1, .mean = double(table[i])});
            }
        }
        all.mean.push_back(there.mean);
        all.deviation.push_back(there.squares == 0 ? 1 : std::sqrt(there.squares / there.count));
    }
    return all;
}

template <class T>
[[gnu::noinline]] void standardize_columns(std::span<T> table,
                                           channel_statistics const& statistics) {
    check_statistics("data::standardize_columns", statistics.mean, statistics.deviation);
    std::size_t const columns = statistics.mean.size();
    check_rows("standardize_columns", table.size(), columns);
    for (std::size_t i = 0; i < table.size(); ++i) {
        std::size_t const c = i % columns;
        double const distance = double(table[i]) - statistics.mean[c];
        table[i] = castnet::detail::is_nan(table[i]) ? T{0} : T(distance / statistics.deviation[c]);
    }
}

} // namespace detail

// Mean and standard deviation of each column of a table, whose rows lie one after the other, over
// the numbers that are there, not NaN: those of Keras' Normalization.adapt and of scikit-learn's
// StandardScaler. As with the latter, the deviation of a column of equal numbers is 1. To be
// measured on the rows that a model is trained with, and kept with it: model::describe(). Throws
// castnet::error unless the rows are whole and no number is infinite.
inline channel_statistics statistics_of_columns(std::span<float const> table, std::size_t columns) {
    return detail::statistics_of_columns(table, columns);
}
inline channel_statistics statistics_of_columns(std::span<double const> table,
                                                std::size_t columns) {
    return detail::statistics_of_columns(table, columns);
}

// Each number of the table minus the mean of its column, divided by the deviation. NaN, a number
// that is missing, becomes 0, as if it were the mean. Throws castnet::error unless the rows are
// whole, the means finite, and the deviations finite and above 0.
inline void standardize_columns(std::span<float> table, channel_statistics const& statistics) {
    detail::standardize_columns(table, statistics);
}
inline void standardize_columns(std::span<double> table, channel_statistics const& statistics) {
    detail::standardize_columns(table, statistics);
}

} // namespace castnet::data
