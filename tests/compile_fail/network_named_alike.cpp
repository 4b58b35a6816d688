// Names are unique.
// expect-note: castnet: two layers are named<\.\.\.> alike in the same place
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct twins {
    constexpr auto operator()(auto x) const {
        return x | cn::named<"twin", cn::dense<4>> | cn::named<"twin", cn::dense<4>>;
    }
};
using net = cn::network<twins{}, cn::input<4>>;

auto count = net::parameter_count;
