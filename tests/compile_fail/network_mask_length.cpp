// A sequence is no longer than all of its steps.
// expect: castnet: a mask of the steps of a sequence needs the sequence's length: input_length<time>
// expect: is_length_within<9[^,]*, .*ids<20
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct pooled {
    constexpr auto operator()(auto x, auto length) const {
        return cn::global_avg_pool1d(x, length);
    }
};
using net = cn::network<pooled{}, cn::input<9, 2>, cn::input_ids<20>>;

auto count = net::parameter_count;
