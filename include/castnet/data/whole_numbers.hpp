// Range of whole numbers in a data set: its ids and its labels.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/data/targets.hpp>

#include <cmath>
#include <string>
#include <string_view>

namespace castnet::data {

struct whole_numbers {
    char const* kind = ""; // what messages call one
    size_t values = 0;     // they are less than this; 0 where numbers need not be whole
    size_t count = 1;      // of a sample
    bool may_be_ignored = false;
    char const* where_ignored = ""; // what messages add about data::ignored that may not be

    constexpr bool include(double found) const {
        return (found >= 0 && found < static_cast<double>(values) &&
                static_cast<double>(static_cast<size_t>(found)) == found) ||
               (may_be_ignored && found == ignored);
    }

    // Throws castnet::error with this context in front unless all numbers of a sample are such.
    template <class T>
    void check(T const* found, size_t sample, std::string_view context) const {
        for (size_t i = 0; i < count; ++i) {
            if (!include(static_cast<double>(found[i]))) {
                refuse(static_cast<double>(found[i]), i, sample, context);
            }
        }
    }

private:
    [[noreturn, gnu::cold]] void refuse(double found, size_t position, size_t sample,
                                        std::string_view context) const {
        std::string const where = count > 1 ? string_of({" at position ", position}) : "";
        bool const whole = std::abs(found) < 1e15 && std::trunc(found) == found;
        throw error({context, ": the ", kind, where, " of sample ", sample, " is ",
                     whole ? text_piece{static_cast<long long>(found)} : text_piece{found},
                     ", expected a whole number from 0 to ", values - 1,
                     may_be_ignored     ? ", or data::ignored"
                     : found == ignored ? where_ignored
                                        : ""});
    }
};

// Those of an input or target of this type.
template <class T>
inline constexpr whole_numbers whole_numbers_of{};
template <size_t Values, size_t... D>
inline constexpr whole_numbers whole_numbers_of<ids<Values, D...>>{"id", Values,
                                                                   ids<Values, D...>::count, false};
template <size_t Classes, size_t... D>
inline constexpr whole_numbers whole_numbers_of<label<Classes, D...>>{
    "label", Classes, shape<D...>::count, sizeof...(D) > 0,
    "; where samples may lack a label, the target is label<classes, 1>, and the output has "
    "shape<1, classes> by reshape"};

} // namespace castnet::data
