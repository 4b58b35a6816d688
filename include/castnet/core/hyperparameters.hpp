// Hyperparameters: names, values and allowed ranges of the numbers that a program chooses.
//
// Optimizers, losses, metrics and transforms of images list theirs beside their name,
//   auto hyperparameters() const   an array
// so that compile() and augment() refuse those out of range.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/finite.hpp>

#include <initializer_list>
#include <limits>
#include <span>
#include <type_traits>

namespace castnet {

// Types of the numbers in template arguments: dropout<0.5>, loss_weight<2, mse>.
template <class T>
concept ConstantNumber = std::is_arithmetic_v<T>;

struct hyperparameter {
    enum range : unsigned char {
        not_negative, // and finite as a float
        positive,     // above 0, and finite as a float
        fraction,     // from 0 to 1
        below_one,    // from 0 to below 1
        finite
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
    case hyperparameter::positive:
        return h.value > 0 && is_finite_not_negative(h.value);
    case hyperparameter::fraction:
        return h.value >= 0 && h.value <= 1;
    case hyperparameter::below_one:
        return h.value >= 0 && h.value < 1;
    case hyperparameter::finite:
        return is_finite(h.value);
    }
    return false;
}

// Throws castnet::error unless each number lies in its range.
[[gnu::noinline]] inline void check_hyperparameters(char const* whose,
                                                    std::span<hyperparameter const> numbers) {
    static constexpr char const* expected[] = {"a finite number that is not negative",
                                               "a finite number above 0", "a number from 0 to 1",
                                               "a number from 0 to below 1", "a finite number"};
    for (hyperparameter const& h : numbers) {
        if (!in_range(h)) {
            throw error({"castnet: ", whose, ": ", h.name, " is ", h.value, ", expected ",
                         expected[h.allowed]});
        }
    }
}
[[gnu::noinline]] inline void check_hyperparameters(char const* whose,
                                                    std::initializer_list<hyperparameter> numbers) {
    check_hyperparameters(whose, std::span{numbers.begin(), numbers.size()});
}

// The same for those of an object, if it lists some.
template <class T>
[[gnu::noinline]] void check_hyperparameters_of([[maybe_unused]] T const& object) {
    if constexpr (requires { object.hyperparameters(); }) {
        check_hyperparameters(T::name, object.hyperparameters());
    }
}

} // namespace detail
} // namespace castnet
