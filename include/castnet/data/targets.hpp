// List of targets, targets<T…>: several targets of one sample, each a label<K> or a shape of real
// numbers; or none, targets<>.
#pragma once

#include <castnet/data/label.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace castnet::data {

template <Target... T>
struct targets {
    static constexpr size_t count = sizeof...(T);
    template <size_t I>
    using at = std::tuple_element_t<I, std::tuple<T...>>;

    // The number of the target that is the label of a whole sample; -1 if there is none or more
    // than one.
    static constexpr int only_label = [] {
        int found = -1, labels = 0, number = 0;
        ((labels_sample<T> ? (++labels, found = number++) : number++), ...);
        return labels == 1 ? found : -1;
    }();

    // Whether there are class numbers of steps or pixels.
    static constexpr bool labels_parts = ((is_label<T> && !labels_sample<T>) || ...);
};

template <class T>
inline constexpr bool is_targets = false;
template <class... T>
inline constexpr bool is_targets<targets<T...>> = true;

// The target_type of a data set: one target, or several.
template <class T>
concept TargetType = Target<T> || is_targets<T>;

namespace detail {

template <class T>
struct as_targets {
    using type = targets<T>;
};
template <class... T>
struct as_targets<targets<T...>> {
    using type = targets<T...>;
};

template <class T>
struct shape_of_target {
    using type = T;
};
template <size_t Classes>
struct shape_of_target<label<Classes>> {
    using type = shape<>;
};
template <size_t Classes, size_t... D>
    requires(sizeof...(D) > 0)
struct shape_of_target<label<Classes, D...>> {
    using type = ids<Classes, D...>;
};

} // namespace detail

// A target_type as a list, and all targets of a data set.
template <TargetType T>
using as_targets = typename detail::as_targets<T>::type;
template <class Data>
using targets_of = as_targets<typename Data::target_type>;

// The shape of a target's numbers; the label of a sample is one number.
template <Target T>
using target_shape = typename detail::shape_of_target<T>::type;

// Writes target I of a sample of any data set: data sets with several have copy_target<I>.
template <size_t I, class Data, class T>
void copy_target(Data const& data, size_t sample, T* out) {
    if constexpr (is_targets<typename Data::target_type>) {
        data.template copy_target<I>(sample, out);
    } else {
        data.copy_target(sample, out);
    }
}

} // namespace castnet::data
