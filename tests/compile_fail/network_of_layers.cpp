// Layers after an input are cn::sequential.
// expect: castnet: cn::network begins with a function of symbols, cn::network<function\{\}, cn::input<...>>; layers after an input are cn::sequential<cn::input<...>, layers...>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::network<cn::input<1, 28, 28>, cn::flatten, cn::dense<10>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
