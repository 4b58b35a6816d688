// expect: castnet: slice: the tensor has no such axis
// expect: castnet: split: the tensor has no such axis
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct cut {
    constexpr auto operator()(auto x) const { return cn::slice<1, 0, 1>(x); }
};
struct half {
    constexpr auto operator()(auto x) const { return cn::split<1, 2>(x)[0]; }
};

auto count = cn::sequential<cn::input<4>, cut{}>::parameter_count;
auto other = cn::sequential<cn::input<4>, half{}>::parameter_count;
