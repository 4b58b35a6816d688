// A data set has a column for its target.
// expect: castnet: a dataset takes a column for each input and then one for each target
// expect: takes_columns<1, 1, .*vector<float
#include <castnet/castnet.hpp>

namespace cn = castnet;

std::vector<float> numbers(6);
cn::data::dataset<cn::data::label<2>, cn::shape<3>> data{numbers};
