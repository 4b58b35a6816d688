// Hyperparameters of optimizers and schedules: name, value and allowed range.
#pragma once

#include <castnet/core/error.hpp>

#include <initializer_list>
#include <limits>
#include <span>

namespace castnet {

struct hyperparameter {
    enum range : unsigned char {
        not_negative, // and finite as a float
        fraction,     // from 0 to 1
        decay         // from 0 to below 1: the share of a running mean that is kept
    };

    char const* name; // of a string literal
    double value;
    range allowed = not_negative;
};

namespace detail {

constexpr bool is_finite_not_negative(double x) {
    return x >= 0 && x <= double(std::numeric_limits<float>::max());
}

constexpr bool in_range(hyperparameter const& h) {
    switch (h.allowed) {
    case hyperparameter::not_negative:
        return is_finite_not_negative(h.value);
    case hyperparameter::fraction:
        return h.value >= 0 && h.value <= 1;
    case hyperparameter::decay:
        return h.value >= 0 && h.value < 1;
    }
    return false;
}

// Throws castnet::error unless each number lies in its range.
[[gnu::cold]] inline void check_hyperparameters(char const* whose,
                                                std::span<hyperparameter const> numbers) {
    static constexpr char const* expected[] = {"a finite number that is not negative",
                                               "a number from 0 to 1",
                                               "a number from 0 to below 1"};
    for (hyperparameter const& h : numbers) {
        if (!in_range(h)) {
            throw error({"castnet: ", whose, ": ", h.name, " is ", h.value, ", expected ",
                         expected[h.allowed]});
        }
    }
}
[[gnu::cold]] inline void check_hyperparameters(char const* whose,
                                                std::initializer_list<hyperparameter> numbers) {
    check_hyperparameters(whose, std::span{numbers.begin(), numbers.size()});
}

} // namespace detail
} // namespace castnet
