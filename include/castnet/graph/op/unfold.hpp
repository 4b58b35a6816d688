// Unfolding of images along their height: the places of a window that slides over it, as channels
// (PyTorch's unfold, of one axis). A convolution over depth, height and width is one of unfolded
// slices over height and width.
//
// Of the window, only what concerns the height counts, and the number of groups: of each group of
// channels, those of the first place come first. Places beyond the image are 0.
#pragma once

#include <castnet/graph/differentiation.hpp>
#include <castnet/graph/emit.hpp>

namespace castnet {

namespace detail {

template <Shape Result, class S>
constexpr symbol<Result> unfold(symbol<S> x, ir::window const& w) {
    return emit_operation<op::unfold, Result>(*x.g, x.g->add_window(w), {sample_id(x)});
}
// Sums of what each element of an unfolded image has become; the gradient of unfold().
template <Shape Result, class S>
constexpr symbol<Result> fold(symbol<S> x, ir::window const& w) {
    return emit_operation<op::fold, Result>(*x.g, x.g->add_window(w), {sample_id(x)});
}

} // namespace detail

template <>
struct operation<op::unfold> {
    static constexpr char const* name = "unfold";
    static constexpr operation_traits traits{.windowed = true};
    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        int const x = d.at(i).in[0];
        d.accumulate(x, d.emit<op::fold>(x, d.at(i).attribute, g));
    }
};
template <>
struct operation<op::fold> {
    static constexpr char const* name = "fold";
    static constexpr operation_traits traits{.windowed = true};
    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        int const x = d.at(i).in[0];
        d.accumulate(x, d.emit<op::unfold>(x, d.at(i).attribute, g));
    }
};

} // namespace castnet
