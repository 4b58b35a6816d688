// Label encodings: class numbers as one-hot vectors or as 0 and 1.
#pragma once

#include <castnet/core/shape.hpp>
#include <castnet/data/adaptor.hpp>
#include <castnet/data/whole_numbers.hpp>

#include <algorithm>
#include <cstddef>

namespace castnet::data {

namespace detail {

template <class T>
struct classes_of_label {
    static_assert(
        castnet::detail::never<T>,
        "castnet: one_hot and binary encode class numbers: the data set needs one target, "
        "a label");
};
template <size_t Classes>
struct classes_of_label<label<Classes>> {
    static constexpr size_t value = Classes;
};

// The class number of a sample. Throws castnet::error for one that is none.
template <class Data, class T>
T class_of(adaptor<Data> const& data, char const* call, size_t sample) {
    T number{};
    data.copy_target(sample, &number);
    whole_numbers_of<typename Data::target_type>.check(&number, sample, call);
    return number;
}

} // namespace detail

template <class Data>
class one_hot_set : public adaptor<Data> {
    static constexpr size_t classes = detail::classes_of_label<typename Data::target_type>::value;

public:
    using target_type = shape<classes>;
    using adaptor<Data>::adaptor;

    template <size_t I = 0, class T>
    void copy_target(size_t sample, T* out) const {
        T const number = detail::class_of<Data, T>(*this, "castnet: data::one_hot", sample);
        std::fill_n(out, classes, T(0));
        out[static_cast<size_t>(number)] = T(1);
    }
};

template <class Data>
class binary_set : public adaptor<Data> {
    static_assert(detail::classes_of_label<typename Data::target_type>::value == 2,
                  "castnet: data::binary is for two classes; for more of them there is one_hot");

public:
    using target_type = shape<1>;
    using adaptor<Data>::adaptor;

    template <size_t I = 0, class T>
    void copy_target(size_t sample, T* out) const {
        *out = detail::class_of<Data, T>(*this, "castnet: data::binary", sample);
    }
};

// 1 for the class of a sample and 0 for the others (Keras' to_categorical, class_mode
// "categorical"), for losses such as categorical_cross_entropy.
template <class Data>
one_hot_set<Data> one_hot(Data data) {
    return one_hot_set<Data>{std::move(data)};
}

// Labels of two classes as the number 0 or 1 (Keras' class_mode "binary"), for
// binary_cross_entropy.
template <class Data>
binary_set<Data> binary(Data data) {
    return binary_set<Data>{std::move(data)};
}

} // namespace castnet::data
