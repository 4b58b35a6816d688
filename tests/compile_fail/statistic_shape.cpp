// A statistic becomes a value of its own shape.
// expect: castnet: update\(statistic, value\): the value has another shape than the statistic
// expect: statistic_keeps_shape<castnet::shape<4>, castnet::shape<1>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct scaling {
    constexpr auto operator()(cn::symbol<cn::shape<4>> x) const {
        auto const scale = cn::new_statistic<cn::shape<4>>(*x.g, "scale", cn::ones);
        cn::update(scale, cn::sum<0>(scale, cn::keepdims));
        return x * scale;
    }
};
using net = cn::sequential<cn::input<4>, cn::dense<4>, scaling{}>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
