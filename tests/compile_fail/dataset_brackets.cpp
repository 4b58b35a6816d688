// Samples are copied, not referred to.
// expect: castnet: a data set has no data\[i\]: data\.copy_input\(i, numbers\) and data\.copy_target\(i, numbers\)
// expect: samples_are_copied<int
#include <castnet/castnet.hpp>

namespace cn = castnet;

void show(cn::data::dataset<cn::shape<1>, cn::shape<2>> const& data) {
    auto const first = data[0];
}
