// Keras' data sets are shuffled and batched.
// expect: castnet: training\.fit\(data\) shuffles the samples in every epoch, unless told \{\.shuffle = false\}
#include <castnet/castnet.hpp>

namespace cn = castnet;

auto batches(cn::data::dataset<cn::shape<2>, cn::shape<3>> const& data) {
    return data.shuffle(100).batch(32);
}
