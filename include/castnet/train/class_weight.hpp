// The weights of classes that fit() and step() take: which target they are of, and which loss takes
// them by itself.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/hyperparameters.hpp>
#include <castnet/data/weighed_classes.hpp>
#include <castnet/train/step_scalars.hpp>

#include <cstddef>
#include <span>

namespace castnet::detail {

// Whether the target whose classes have weights has several labels in a sample.
template <class Targets>
inline constexpr bool weighs_each = [] {
    constexpr int target = data::weighed_classes<Targets>::target;
    if constexpr (target >= 0) {
        using given = typename Targets::template at<size_t(target)>;
        return data::is_label<given> && !data::labels_sample<given> && !data::labels_some<given>;
    }
    return false;
}();

// Where a loss by itself takes the weights of classes: of which target, and its scalars from
// `first` on.
struct class_weighing {
    int target = -1;
    size_t first = 0, count = 0;
};
template <class Loss>
struct weighing_in {
    static constexpr class_weighing of_classes{};
};
template <class Loss>
    requires requires { Loss::weighed_classes; }
struct weighing_in<Loss> {
    static constexpr class_weighing of_classes{0, 0, Loss::weighed_classes};
};
template <class... Loss>
struct weighing_in<loss_list<Loss...>> {
    static constexpr class_weighing of_classes = [] {
        class_weighing found;
        int number = 0;
        size_t scalars = 0;
        auto const look_at = [&](class_weighing one, size_t count) {
            if (one.count > 0) {
                found = {number, scalars, one.count};
            }
            ++number;
            scalars += count;
        };
        (..., look_at(weighing_in<Loss>::of_classes, scalars_of<Loss>::count));
        return found;
    }();
};

// Checks class weights for data with these targets; `call` is the function they were passed to.
// Throws castnet::error unless there are none, or one for each class.
template <class Targets, class Loss>
[[gnu::noinline]] void check_class_weight(char const* call, std::span<float const> class_weight) {
    if (class_weight.empty()) {
        return;
    }
    constexpr size_t classes = data::weighed_classes<Targets>::count;
    constexpr int by_loss = weighing_in<Loss>::of_classes.target;
    if constexpr (classes > 0 && weighs_each<Targets> && by_loss < 0) {
        throw error({"castnet: ", call,
                     ": class_weight of labels of steps or pixels needs a loss that weighs each: "
                     "cn::class_weighted<cn::cross_entropy, ",
                     classes, ">"});
    } else if constexpr (classes > 0 &&
                         (by_loss < 0 || by_loss == data::weighed_classes<Targets>::target)) {
        if (class_weight.size() != classes) {
            throw error({"castnet: ", call, ": class_weight holds ",
                         quantity(class_weight.size(), "factor"), ", but the ",
                         Targets::only_label >= 0 ? "labels" : "numbers", " of the data set have ",
                         quantity(classes, "class", "classes"),
                         "; give one factor for each class"});
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
                     "set has other targets; weigh samples with data::with_weights"});
    }
}

} // namespace castnet::detail
