// An array of 2^32 elements.
// expect: castnet: policy::cuda numbers the elements of an array with 31 bits
#include <castnet/castnet.hpp>
#include <castnet/cuda.hpp>

namespace cn = castnet;

using network = cn::sequential<cn::input<1, 1024, 1024>, cn::max_pool2d<64>, cn::relu>;
cn::model<network, cn::policy::cuda, cn::batch<4096>> model;
using data_set = cn::data::dataset<cn::data::label<4>, cn::shape<1, 1024, 1024>>;
float first_output(data_set const& data) {
    return model.predict(data)[0];
}
