// The vector of a decoder's context, joined with the steps.
// expect: castnet: the cell of a scan joins a value from outside the loop with one of the step
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct decodes {
    constexpr auto operator()(auto x, auto context) const {
        return cn::scan(x, cn::shape<2>{},
                        [=](auto x_t, auto h) {
                            return cn::concat(context, x_t) | cn::dense<2> | cn::tanh;
                        })
            .outputs;
    }
};
using net = cn::network<decodes{}, cn::input<4, 3>, cn::input<5>>;

cn::model<net, cn::policy::cpu, cn::batch<4>> model{cn::seed{1}};
