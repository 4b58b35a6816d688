// The target's type comes first.
// expect: castnet: dataset<target, inputs...> needs the type of the target first
#include <castnet/castnet.hpp>

#include <vector>

namespace cn = castnet;

cn::data::dataset<cn::shape<4>, cn::data::label<3>> data{std::vector<float>(8),
                                                         std::vector<int>(2)};
