// Checks of samples, labels and weights, which a data set of the user's own may get wrong.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/hyperparameters.hpp>
#include <castnet/data/whole_numbers.hpp>

#include <span>
#include <string>

namespace castnet::detail {

[[noreturn, gnu::cold]] inline void refuse_weight(double weight, size_t sample) {
    throw error({"castnet: the weight of sample ", sample, " is ", weight,
                 ", expected a finite number that is not negative"});
}
[[noreturn, gnu::cold]] inline void refuse_weight_sum(double sum) {
    throw error({"castnet: the weights of the samples of a step sum to ", sum,
                 ", expected a sum from 1e-30 to 1e30, within which losses can be divided by it; "
                 "multiply all weights by the same factor"});
}

[[noreturn, gnu::cold]] inline void refuse_probability(double found, size_t position, size_t count,
                                                       size_t sample) {
    std::string const where = count > 1 ? string_of({" at position ", position}) : "";
    throw error({"castnet: the target", where, " of sample ", sample, " is ", found,
                 ", expected a probability, from 0 to 1"});
}

inline double checked_weight(double weight, size_t sample) {
    if (!is_finite_not_negative(weight)) {
        refuse_weight(weight, sample);
    }
    return weight;
}

// A label as a class number; throws castnet::error, with this context in front, for an invalid one.
inline size_t checked_label(double label, size_t classes, size_t sample, char const* context) {
    data::whole_numbers{"label", classes}.check(&label, sample, context);
    return size_t(label);
}

// Throws castnet::error unless all numbers of a sample's target are probabilities.
template <class T>
void check_probabilities(T const* found, size_t count, size_t sample) {
    size_t others = 0; // (in vectors)
    for (size_t i = 0; i < count; ++i) {
        others += !(found[i] >= 0 && found[i] <= 1);
    }
    if (others > 0) {
        size_t position = 0;
        while (found[position] >= 0 && found[position] <= 1) {
            ++position;
        }
        refuse_probability(double(found[position]), position, count, sample);
    }
}

// The sum of the weights of samples; throws castnet::error unless it is 0 or losses can be divided
// by it.
inline double checked_weight_sum(double sum) {
    if (!(sum == 0 || (sum >= 1e-30 && sum <= 1e30))) {
        refuse_weight_sum(sum);
    }
    return sum;
}

[[gnu::noinline]] inline void check_samples(char const* call, size_t size) {
    if (size == 0) {
        throw error({"castnet: ", call, ": the data set holds no sample"});
    }
}

} // namespace castnet::detail
