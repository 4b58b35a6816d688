// Pooling of images and sequences, up-sampling of images.
#pragma once

#include <castnet/graph/op/product.hpp>

namespace castnet {

template <op K, Shape Result, class S>
constexpr auto pool(symbol<S> x, ir::window const& w) {
    static_assert(slides_over<S>,
                  "castnet: pool() needs an image (channels, height, width) or a sequence (time, "
                  "features); see slides_over<input shape>");
    return detail::emit_operation<K, Result>(*x.g, x.g->add_window(w), {detail::sample_id(x)});
}

namespace ir {

// The windows lie side by side and leave out pixels at the end only.
CASTNET_HD constexpr bool tiles_image(window const& w) {
    return !w.adaptive && w.stride_h == w.kernel_h && w.stride_w == w.kernel_w && w.pad_top == 0 &&
           w.pad_left == 0 && w.out_height * w.kernel_h <= w.height &&
           w.out_width * w.kernel_w <= w.width;
}

} // namespace ir

namespace detail {

// A base of operations on windows, with a gradient or, for op::count, without.
template <op Gradient>
struct windowed_operation {
    static constexpr operation_traits traits{.windowed = true};
    static constexpr auto flops = &flops_of_window;
    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        int const x = d.at(i).in[0];
        d.accumulate(x, d.emit<Gradient>(x, d.at(i).attribute, g));
    }
};
template <>
struct windowed_operation<op::count> {
    static constexpr operation_traits traits{.windowed = true};
    static constexpr auto flops = &flops_of_window;
};

} // namespace detail

template <>
struct operation<op::max_pool> : detail::windowed_operation<op::count> {
    static constexpr char const* name = "max_pool";

    // The largest pixels of the windows get the gradient. A function before the pooling whose
    // derivative depends on its value only has that value there after the pooling, too: its
    // derivative is taken on the small image, and the large one need not be kept.
    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        int const x = d.at(i).in[0], attribute = d.at(i).attribute;
        int const argmax = d.emit<op::max_pool_argmax>(i, attribute, i);
        ir::node const& f = d.at(x);
        unsigned const by_value = f.kind == op::map ? 1U << f.operands : 0;
        bool const only = f.kind == op::map && f.operands == 1 &&
                          ir::function_of(f).reads[0] == by_value && d.read_once(x);
        int to = x;
        if (only) {
            to = f.in[0];
            g = d.chain(x, 0, by_value, g, i);
        }
        d.accumulate(to, d.emit<op::max_pool_gradient>(x, attribute, argmax, g));
    }
};
template <>
struct operation<op::max_pool_argmax> {
    static constexpr char const* name = "max_pool_argmax";
    static constexpr operation_traits traits{.stores_bf16 = false, .beside = true};
};
template <>
struct operation<op::max_pool_gradient> : detail::windowed_operation<op::count> {
    static constexpr char const* name = "max_pool_gradient";
};

template <>
struct operation<op::avg_pool> : detail::windowed_operation<op::avg_pool_gradient> {
    static constexpr char const* name = "avg_pool";
};
template <>
struct operation<op::avg_pool_gradient> : detail::windowed_operation<op::avg_pool> {
    static constexpr char const* name = "avg_pool_gradient";
};

template <>
struct operation<op::upsample> : detail::windowed_operation<op::upsample_gradient> {
    static constexpr char const* name = "upsample";
};
template <>
struct operation<op::upsample_gradient> : detail::windowed_operation<op::upsample> {
    static constexpr char const* name = "upsample_gradient";
};

} // namespace castnet
