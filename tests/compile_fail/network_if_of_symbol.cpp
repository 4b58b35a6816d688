// A tensor of a network has no value to choose by.
// expect: castnet: a tensor has no value yet while its network is traced
// expect: has_value_while_compiling<castnet::shape<4> ?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct head {
    constexpr auto operator()(auto x) const {
        if (x > 0) {
            return x | cn::dense<1>;
        }
        return 2 * x | cn::dense<1>;
    }
};
using net = cn::network<head{}, cn::input<4>>;

cn::model<net, cn::policy::cpu, cn::batch<1>> model;
