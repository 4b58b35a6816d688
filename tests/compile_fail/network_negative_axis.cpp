// Axes of symbols that count from the last one, as in NumPy.
// expect: castnet: axes count from the first, which is 0, not from the last
// expect: axes_count_from_first<-1>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct mean_of_features {
    constexpr auto operator()(auto x) const { return cn::mean<-1>(x); }
};
using net = cn::sequential<cn::input<4, 5>, mean_of_features{}>;

auto count = net::parameter_count;
