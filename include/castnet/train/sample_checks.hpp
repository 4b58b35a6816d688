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

// Whether T is the label of a sample that may lack one, label<classes, 1>.
template <class T>
inline constexpr bool labels_some = false;
template <size_t Classes, size_t... D>
    requires(sizeof...(D) > 0 && (D * ...) == 1)
inline constexpr bool labels_some<data::label<Classes, D...>> = true;

// The target whose classes have weights, and their number: the only label of a sample, or else the
// only one that samples may lack or, where the only target is one number, that number, 0 or 1. -1
// and 0 if there is none.
template <class Targets>
struct weighed_classes {
    static constexpr int target = Targets::only_label;
    static constexpr size_t count = 0;
};
template <class Targets>
    requires(Targets::only_label >= 0)
struct weighed_classes<Targets> {
    static constexpr int target = Targets::only_label;
    static constexpr size_t count = Targets::template at<size_t(target)>::classes;
};
template <class... T>
    requires(data::targets<T...>::only_label < 0 && (labels_some<T> + ... + 0) == 1 &&
             !(data::labels_sample<T> || ...))
struct weighed_classes<data::targets<T...>> {
    static constexpr int target = [] {
        int found = 0, number = 0;
        ((labels_some<T> ? found = number++ : number++), ...);
        return found;
    }();
    static constexpr size_t count = (... + (labels_some<T> ? data::classes_of<T> : 0));
};
template <Shape S>
    requires(S::count == 1)
struct weighed_classes<data::targets<S>> {
    static constexpr int target = 0;
    static constexpr size_t count = 2;
};

// Checks class weights for data with these targets; `call` is the function they were passed to.
// Throws castnet::error unless there are none, or one for each class.
template <class Targets>
[[gnu::noinline]] void check_class_weight(char const* call, std::span<float const> class_weight) {
    if (class_weight.empty()) {
        return;
    }
    if constexpr (constexpr size_t classes = weighed_classes<Targets>::count; classes > 0) {
        if (class_weight.size() != classes) {
            throw error({"castnet: ", call, ": class_weight holds ", class_weight.size(),
                         " factors, but the ", Targets::only_label >= 0 ? "labels" : "numbers",
                         " of the data set have ", classes,
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
                     "data::label<classes>, or the only target to be one number, 0 or 1; the data "
                     "set has ",
                     Targets::labels_parts
                         ? "labels of steps or pixels; weigh these in a loss of your own, "
                           "such as one of cross_entropy.of_each(logits, labels)"
                         : "other targets; weigh samples with data::with_weights"});
    }
}

} // namespace castnet::detail
