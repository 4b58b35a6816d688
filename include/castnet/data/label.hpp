// Class label as a target, label<K>: a class number from 0 to K-1.
#pragma once

#include <castnet/core/shape.hpp>

namespace castnet::data {

template <size_t Classes>
struct label {
    static constexpr size_t classes = Classes;

    static_assert(Classes >= 1, "castnet: a label needs at least one class");
    static_assert(Classes <= size_t{1} << 24, "castnet: a label has at most 2^24 classes, so that "
                                              "every class number is exact as a float");
};

template <class T>
inline constexpr bool is_label = false;
template <size_t Classes>
inline constexpr bool is_label<label<Classes>> = true;

// The number of classes; 0 for types other than labels.
template <class T>
inline constexpr size_t classes_of = 0;
template <size_t Classes>
inline constexpr size_t classes_of<label<Classes>> = Classes;

// The target of a sample: a class number, or real numbers.
template <class T>
concept Target = is_label<T> || Shape<T>;

} // namespace castnet::data
