// expect: castnet: pad_sequences<time, features> needs at least one step and one number of each
// expect: castnet: data::blobs<classes, features> needs at least one of each
#include <castnet/data.hpp>
#include <castnet/data/synthetic.hpp>

#include <vector>

namespace cn = castnet;

auto const padded = cn::data::pad_sequences<5, 0>(std::vector<std::vector<int>>{{1}});
auto const points = cn::data::blobs<0, 3>(5, 1);
