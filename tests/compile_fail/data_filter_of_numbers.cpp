// A filter looks at samples.
// expect: castnet: data::filter calls a function with a view of each sample: \[\]\(auto
// expect: keeps_samples<
#include <castnet/castnet.hpp>
#include <castnet/data.hpp>

namespace cn = castnet;

auto const data =
    cn::data::filter(cn::data::blobs<2, 3>(16, 1), [](int label) { return label < 1; });
