// Axes, extents and counts are template arguments of functions of symbols, too.
// expect: castnet: shapes are known while compiling, so axes, extents and counts stand before
// expect: is_written<.*"expand_dims<axis>\(x\)"
// expect: is_written<.*"concatenate<axis>\(x, y\.\.\.\)"
// expect: is_written<.*"one_hot<classes>\(x\)"
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct as_in_numpy {
    constexpr auto operator()(auto x) const {
        auto const wide = cn::expand_dims(x, 0);
        auto const tall = cn::concatenate(x, x);
        return cn::one_hot(x, 4);
    }
};
using net = cn::network<as_in_numpy{}, cn::input<6, 2>>;

auto count = net::parameter_count;
