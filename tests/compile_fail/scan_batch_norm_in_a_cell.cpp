// Statistics of the batch in a cell, which works on one sample. (With an include of its own: nvcc
// says the same sentence once in a run.)
// expect: castnet: the cell of a scan works on numbers and vectors .features. of one step
#include <castnet/castnet.hpp>
#include <castnet/nn/batch_norm.hpp>

namespace cn = castnet;

struct normalizes {
    constexpr auto operator()(auto x) const {
        return cn::scan(x, cn::shape<3>{},
                        [](auto x_t, auto h) { return cn::tanh(x_t + h) | cn::batch_norm; })
            .outputs;
    }
};
using net = cn::network<normalizes{}, cn::input<4, 3>>;

cn::model<net, cn::policy::cpu, cn::batch<4>> model{cn::seed{1}};
auto training = cn::compile(model, cn::mse, cn::sgd{});
