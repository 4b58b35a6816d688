// The weights of classes that fit() and step() take: which target they are of, and which loss takes
// them by itself.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/hyperparameters.hpp>
#include <castnet/data/targets.hpp>
#include <castnet/train/step_scalars.hpp>

#include <cstddef>
#include <span>

namespace castnet::detail {

// Whether T is the label of a sample that may lack one, label<classes, 1>.
template <class T>
inline constexpr bool labels_some = false;
template <size_t Classes, size_t... D>
    requires(sizeof...(D) > 0 && (D * ...) == 1)
inline constexpr bool labels_some<data::label<Classes, D...>> = true;

// The target whose classes have weights, and their number: the only label of a sample, or else the
// only one that samples may lack, or the only label, of steps or pixels, or, where the only target
// is one number, that number, 0 or 1. -1 and 0 if there is none.
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
    requires(data::targets<T...>::labels_parts && !(data::labels_sample<T> || ...))
struct weighed_classes<data::targets<T...>> {
    // The only one of these; -1 if there are more or none.
    template <size_t N>
    static constexpr int only(bool const (&is)[N]) {
        int found = -1, number = 0, all = 0;
        for (bool const here : is) {
            found = here ? number : found;
            all += here;
            ++number;
        }
        return all == 1 ? found : -1;
    }
    static constexpr int target =
        (labels_some<T> || ...) ? only({labels_some<T>...}) : only({data::is_label<T>...});
    static constexpr size_t count = [] {
        if constexpr (target >= 0) {
            return data::classes_of<typename data::targets<T...>::template at<size_t(target)>>;
        }
        return size_t{0};
    }();
};
template <Shape S>
    requires(S::count == 1)
struct weighed_classes<data::targets<S>> {
    static constexpr int target = 0;
    static constexpr size_t count = 2;
};

// Whether that has several labels in a sample.
template <class Targets>
inline constexpr bool weighs_each = [] {
    constexpr int target = weighed_classes<Targets>::target;
    if constexpr (target >= 0) {
        using given = typename Targets::template at<size_t(target)>;
        return data::is_label<given> && !data::labels_sample<given> && !labels_some<given>;
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
    constexpr size_t classes = weighed_classes<Targets>::count;
    constexpr int by_loss = weighing_in<Loss>::of_classes.target;
    if constexpr (classes > 0 && weighs_each<Targets> && by_loss < 0) {
        throw error({"castnet: ", call,
                     ": class_weight of labels of steps or pixels needs a loss that weighs each: "
                     "cn::class_weighted<cn::cross_entropy, ",
                     classes, ">"});
    } else if constexpr (classes > 0 &&
                         (by_loss < 0 || by_loss == weighed_classes<Targets>::target)) {
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
                     "set has other targets; weigh samples with data::with_weights"});
    }
}

} // namespace castnet::detail
