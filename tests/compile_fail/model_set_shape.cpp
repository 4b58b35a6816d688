// A parameter is set to a tensor of its shape, (units, features).
// expect: castnet: model::set: the tensor has another shape than the parameter
// expect: parameter_has_shape<.*shape<3, ?4>, .*shape<4, ?3>
#include <castnet/castnet.hpp>

namespace cn = castnet;

int main() {
    cn::model<cn::sequential<cn::input<4>, cn::dense<3>>, cn::policy::cpu, cn::batch<8>> model;
    model.set<"0.weight">(cn::tensor<float, cn::shape<4, 3>>());
}
