// Features and activations are no arguments of a dense layer.
// expect: castnet: dense<units> takes the number of its units alone
// expect: dense_takes_units<784[^,]*, ?64
#include <castnet/castnet.hpp>

namespace cn = castnet;
using net = cn::sequential<cn::input<784>, cn::dense<784, 64>, cn::dense<8, cn::relu>>;
