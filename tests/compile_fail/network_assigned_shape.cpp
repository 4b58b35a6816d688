// A variable keeps its shape.
// expect: castnet: a variable keeps its type
// expect: keeps_its_shape<castnet::shape<4>, castnet::shape<8> ?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct head {
    constexpr auto operator()(auto x) const {
        auto y = x;
        y = y | cn::dense<8>;
        return y | cn::dense<1>;
    }
};
using net = cn::network<head{}, cn::input<4>>;

cn::model<net, cn::policy::cpu, cn::batch<1>> model;
