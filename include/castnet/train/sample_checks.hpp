// Checks of samples, labels and weights, which a data set of the user's own may get wrong.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/hyperparameters.hpp>
#include <castnet/data/whole_numbers.hpp>

#include <span>

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

inline double checked_weight(double weight, size_t sample) {
    if (!is_finite_not_negative(weight)) {
        refuse_weight(weight, sample);
    }
    return weight;
}

// A label as a class number; throws castnet::error for an invalid one.
inline size_t checked_label(double label, size_t classes, size_t sample) {
    data::whole_numbers{"label", classes}.check(&label, sample, "castnet");
    return size_t(label);
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

// Checks class weights for data with these targets; `call` is the function they were passed to.
// Throws castnet::error unless there are none, or one for each class of the only label.
template <class Targets>
[[gnu::noinline]] void check_class_weight(char const* call, std::span<float const> class_weight) {
    if (class_weight.empty()) {
        return;
    }
    if constexpr (constexpr int label = Targets::only_label; label >= 0) {
        constexpr size_t classes = Targets::template at<size_t(label)>::classes;
        if (class_weight.size() != classes) {
            throw error({"castnet: ", call, ": class_weight holds ", class_weight.size(),
                         " factors, but the labels of the data set have ", classes,
                         " classes; give one factor for each class"});
        }
        for (float factor : class_weight) {
            if (!is_finite_not_negative(double(factor))) {
                throw error({"castnet: ", call, ": a class weight is ", factor,
                             ", expected a finite number that is not negative"});
            }
        }
    } else {
        throw error({"castnet: ", call,
                     ": class_weight needs one target that is a class number, "
                     "data::label<classes>, and the data set has ",
                     Targets::labels_parts
                         ? "those of steps or pixels; weigh these in a loss of your own, "
                           "such as one of cross_entropy.of_each(logits, labels)"
                         : "none or several; weigh samples with dataset::with_weights"});
    }
}

} // namespace castnet::detail
