// Tensors become a data set by a function.
// expect: castnet: a dataset takes a column for each input.*of tensors, cn::data::of_tensors\(x, y\) is a data set
// expect: takes_columns<1, 1, .*tensor<float
#include <castnet/castnet.hpp>

namespace cn = castnet;

cn::tensor<float, cn::shape<2, 3>> inputs;
cn::tensor<int, cn::shape<2>> labels;
cn::data::dataset<cn::data::label<2>, cn::shape<3>> data{inputs, labels};
