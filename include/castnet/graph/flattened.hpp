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
        ir::axes const as_image{
            2, {static_cast<int>(features::count) / pixels, pixels}, memory_order::channels_last};
        ir::node moved;
        moved.kind = op::reshape;
        moved.size = ir::extents_of(as_image, g.nodes[x.id].size.sample);
        moved.in[moved.operands++] = x.id;
        image = g.push(moved);
    }
    ir::node n = ir::graph::shaped<features>(op::reshape, g.nodes[image].size.sample);
    n.attribute = ir::as_stored;
    n.in[n.operands++] = image;
    return emit<features>(g, n);
}

} // namespace castnet
