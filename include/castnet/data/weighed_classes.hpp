// The target whose classes have weights (fit_options::class_weight).
#pragma once

#include <castnet/data/targets.hpp>

#include <cstddef>

namespace castnet::data {

// Whether T is the label of a sample that may lack one, label<classes, 1>.
template <class T>
inline constexpr bool labels_some = false;
template <size_t Classes, size_t... D>
    requires(sizeof...(D) > 0 && (D * ...) == 1)
inline constexpr bool labels_some<label<Classes, D...>> = true;

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
    requires(targets<T...>::labels_parts && !(labels_sample<T> || ...))
struct weighed_classes<targets<T...>> {
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
        (labels_some<T> || ...) ? only({labels_some<T>...}) : only({is_label<T>...});
    static constexpr size_t count = [] {
        if constexpr (target >= 0) {
            return classes_of<typename targets<T...>::template at<size_t(target)>>;
        }
        return size_t{0};
    }();
};
template <Shape S>
    requires(S::count == 1)
struct weighed_classes<targets<S>> {
    static constexpr int target = 0;
    static constexpr size_t count = 2;
};

} // namespace castnet::data
