// One-hot vectors of class numbers or ids.
#pragma once

#include <castnet/graph/op/source.hpp>
#include <castnet/nn/reshape.hpp>

#include <utility>

namespace castnet {

// For each number of x a vector with 1 at its place and 0 at all others: (time) becomes (time,
// Classes), a single number (Classes). A number that is no class, such as data::ignored, has zeros
// only. It has no gradient. (PyTorch's F.one_hot, Keras' ops.one_hot; of a data set's labels there
// is data::one_hot.)
template <size_t Classes, Shape S>
constexpr auto one_hot(symbol<S> x) {
    auto const classes = channel_index<shape<Classes>>(*x.g);
    return [&]<size_t... I>(std::index_sequence<I...>) {
        if constexpr (sizeof...(I) == 0) {
            return equal(classes, symbol<shape<>>{x.g, x.id});
        } else {
            return equal(reshaped(x, row_major_shape<S::extent[I]..., 1>{}), classes);
        }
    }(std::make_index_sequence<S::rank>{});
}
template <Shape S, class Classes> // a mistake
constexpr auto one_hot(symbol<S> x, Classes const&) {
    return detail::written_otherwise<is_written<"one_hot<classes>(x)">>(x);
}

} // namespace castnet
