// Functions of symbols that work along the last axis take no other.
// expect: castnet: a reduction takes its axes as template arguments, as in sum<0>\(x\)
// expect: castnet: softmax and log_softmax work along the last axis
// expect: softmax_axis_is_named<.*"softmax.along<0>\(x\)"
// expect: castnet: concat joins the channels of images and the last axis of other tensors; along
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct as_in_numpy {
    constexpr auto operator()(auto x) const {
        auto const spread = cn::variance(x, 1);
        auto const scores = cn::softmax(x, 0);
        return cn::concat<1>(x, scores);
    }
};
using net = cn::network<as_in_numpy{}, cn::input<6, 2>>;

auto count = net::parameter_count;
