// A tensor as text, in the manner of NumPy:
//
//   [[ 1 2.5]
//    [-3   4]]
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/tensor/owning_tensor.hpp>

#include <iosfwd>
#include <string>
#include <type_traits>

namespace castnet {

namespace detail {

template <class T>
std::string number_text(T x) {
    if constexpr (std::is_integral_v<T>) {
        return std::to_string(x);
    } else {
        return digits_of(static_cast<double>(x), 6);
    }
}

// Appends the sub-tensor at `index...`, its elements padded to `width`; of an axis longer than
// twice `edge` only the first and last `edge` entries.
template <class X, class... Index>
void append_text(std::string& text, X const& x, size_t width, size_t edge, Index... index) {
    using S = typename X::shape_type;
    constexpr size_t axis = sizeof...(Index);
    if constexpr (axis == S::rank) {
        std::string const number = number_text(x.element(index...));
        text.append(width > number.size() ? width - number.size() : 0, ' ');
        text += number;
    } else {
        std::string separator = " ";
        if constexpr (axis + 1 < S::rank) {
            separator = std::string(S::rank - 1 - axis, '\n') + std::string(axis + 1, ' ');
        }
        text += '[';
        for (size_t i = 0; i < S::extent[axis]; ++i) {
            if (i > 0) {
                text += separator;
            }
            if (i == edge && S::extent[axis] > 2 * edge) {
                text += "..." + separator;
                i = S::extent[axis] - edge;
            }
            append_text(text, x, width, edge, index..., i);
        }
        text += ']';
    }
}

} // namespace detail

// Numbers have up to 6 significant digits. Of tensors with more than 1000 elements, axes longer
// than 6 show their first and last 3 entries.
template <TensorExpression X>
std::string to_string(X const& x) {
    using S = typename X::shape_type;
    auto const t = to<device::cpu>(x);
    size_t const edge = S::count > 1000 ? 3 : S::count;
    size_t width = 0;
    for (auto element : t) {
        size_t const needed = detail::number_text(element).size();
        width = needed > width ? needed : width;
    }
    std::string text;
    detail::append_text(text, t, width, edge);
    return text;
}

// On any stream, whose header the program includes; this one needs none.
template <class Stream, TensorExpression X>
    requires std::is_base_of_v<std::ios_base, Stream>
Stream& operator<<(Stream& out, X const& x) {
    out << to_string(x);
    return out;
}

} // namespace castnet
