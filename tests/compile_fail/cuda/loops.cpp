// policy::cuda does not run loops yet.
// expect: castnet: policy::cuda does not run loops over time yet
#include <castnet/castnet.hpp>
#include <castnet/cuda.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<6, 2>, cn::lstm<4>>;

void predict() {
    cn::model<net, cn::policy::cuda, cn::batch<4>> model{cn::seed{1}};
    model.predict(cn::tensor<float, 1, 6, 2>{});
}
