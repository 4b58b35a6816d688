// Class label as a target, label<K>: a class number from 0 to K-1; label<K, time> has one for each
// step of a sequence, label<K, height, width> for each pixel of an image.
#pragma once

#include <castnet/core/ids.hpp>

namespace castnet::data {

template <size_t Classes, size_t... D>
struct label {
    static constexpr size_t classes = Classes;

    static_assert(Classes >= 1, "castnet: a label needs at least one class");
    static_assert(Classes <= size_t{1} << 24, "castnet: a label has at most 2^24 classes, so that "
                                              "every class number is exact as a float");
};

// In place of a class number, among those of steps or pixels, for one that does not count
// (PyTorch's ignore_index): losses and metrics leave it out.
inline constexpr int ignored = -100;

// (Asks for a member, so that label's numbers are checked.)
template <class T>
inline constexpr bool is_label = false;
template <size_t Classes, size_t... D>
inline constexpr bool is_label<label<Classes, D...>> = label<Classes, D...>::classes == Classes;

// Whether T is the label of a whole sample.
template <class T>
inline constexpr bool labels_sample = false;
template <size_t Classes>
inline constexpr bool labels_sample<label<Classes>> = true;

// The number of classes; 0 for types other than labels.
template <class T>
inline constexpr size_t classes_of = 0;
template <size_t Classes, size_t... D>
inline constexpr size_t classes_of<label<Classes, D...>> = Classes;

// The target of a sample: class numbers, or real numbers.
template <class T>
concept Target = is_label<T> || Shape<T>;

} // namespace castnet::data
