// The data set comes first.
// expect: castnet: this is not a data set
// expect: is_dataset<.*random_flip
#include <castnet/castnet.hpp>
#include <castnet/data.hpp>

namespace cn = castnet;

auto const data = cn::data::augment(cn::data::random_flip{}, cn::data::blobs<2, 3>(16, 1));
