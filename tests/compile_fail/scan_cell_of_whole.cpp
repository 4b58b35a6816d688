// A cell has numbers and vectors only: tensors of several axes have no place in a step.
// expect: castnet: the cell of a scan works on numbers and vectors .features. of one step
#include <castnet/castnet.hpp>
#include <castnet/nn/reshape.hpp>

namespace cn = castnet;

struct reshapes {
    constexpr auto operator()(auto x) const {
        return cn::scan(x, cn::shape<4>{},
                        [](auto, auto h) { return cn::reshape<4>(cn::reshape<2, 2>(h) * 2); })
            .outputs;
    }
};
using net = cn::network<reshapes{}, cn::input<6, 2>>;

cn::model<net, cn::policy::cpu, cn::batch<4>> model{cn::seed{1}};
auto y = model.predict(cn::tensor<float, cn::shape<6, 2>>{});
