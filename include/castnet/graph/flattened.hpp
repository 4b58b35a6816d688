// Flattened images before dense layers, which move nothing: the layer reads the image as it lies in
// memory, channels innermost, and the rows of its weight lie in that order, too.
#pragma once

#include <castnet/graph/symbol_operators.hpp>

namespace castnet {

// The elements of an image in their logical order, (channels * height * width), and where the image
// is. A type of its own, since a weight has one order in all of a model's steps: a layer that does
// nothing in some of them takes and returns a plain symbol.
template <Shape Image>
struct flattened : symbol<shape<Image::count>> {
    int image = -1; // node

    // parameter::pixels of a weight that these elements meet first.
    static constexpr int pixels = static_cast<int>(pixels_of<Image>);
};
template <class Image>
inline constexpr bool is_symbol<flattened<Image>> = true;

template <Symbol X>
inline constexpr int flattened_pixels = 1;
template <Shape Image>
inline constexpr int flattened_pixels<flattened<Image>> = flattened<Image>::pixels;

namespace detail {

template <Shape S>
constexpr int image_of(symbol<S>) {
    return -1;
}
template <Shape Image>
constexpr int image_of(flattened<Image> x) {
    return x.image;
}

// A vector seen as an image of so many pixels: with its elements in that order in memory already,
// `attribute` is as_stored, or moved there.
template <class S>
constexpr int as_image(symbol<S> x, int pixels, int attribute) {
    ir::axes const image{
        2, {static_cast<int>(S::count) / pixels, pixels}, memory_order::channels_last};
    ir::node n;
    n.kind = op::reshape;
    n.size = ir::extents_of(image, x.g->nodes[x.id].size.sample);
    n.attribute = attribute;
    n.in[n.operands++] = x.id;
    return x.g->push(n);
}

} // namespace detail

// x with its features in the order that the rows of a dense weight have in memory. A shared layer
// that met an image first may meet a vector or other images later: those are moved.
template <Shape Weight, Symbol X>
constexpr symbol<typename X::shape_type> in_order_of(symbol<Weight> weight, X x) {
    using features = typename X::shape_type;
    ir::graph& g = *x.g;
    int const pixels = g.parameters[g.nodes[weight.id].attribute].pixels;
    if (features::rank != 1 || pixels == 1) {
        return x;
    }
    int image = detail::image_of(x);
    if (image < 0 || g.nodes[image].size.pixels != pixels) {
        image = detail::as_image(x, pixels, -1);
    }
    ir::node n = ir::graph::shaped<features>(op::reshape, g.nodes[image].size.sample);
    n.attribute = ir::as_stored;
    n.in[n.operands++] = image;
    return emit<features>(g, n);
}

// The reverse: a vector whose elements are in the order of that weight's rows in logical order.
template <Shape Weight, Shape S>
constexpr symbol<S> from_order_of(symbol<Weight> weight, symbol<S> x) {
    ir::graph& g = *x.g;
    int const pixels = g.parameters[g.nodes[weight.id].attribute].pixels;
    if (S::rank != 1 || pixels == 1) {
        return x;
    }
    ir::node n = ir::graph::shaped<S>(op::reshape, g.nodes[x.id].size.sample);
    n.in[n.operands++] = detail::as_image(x, pixels, ir::as_stored);
    return emit<S>(g, n);
}

} // namespace castnet
