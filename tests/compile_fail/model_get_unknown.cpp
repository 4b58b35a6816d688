// A parameter that the compiler is to find must be there; the names are listed.
// expect: castnet: the network has no parameter of this name
// expect-clang: parameter_is_there<false, .*"0.wieght".*"0.weight, 0.bias"
#include <castnet/castnet.hpp>

namespace cn = castnet;

int main() {
    cn::model<cn::sequential<cn::input<4>, cn::dense<3>>, cn::policy::cpu, cn::batch<8>> model;
    model.get<"0.wieght">();
}
