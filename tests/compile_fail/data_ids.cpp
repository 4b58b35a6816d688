// The ids of a data set have the values that the network expects.
// expect: castnet: the inputs of the data set do not have the shapes of the network's inputs
// expect: inputs_fit<.*ids<9[^,]*, ?3.*ids<8
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input_ids<9, 3>, cn::embedding<9, 2>, cn::flatten>;

cn::data::dataset<cn::data::label<2>, cn::ids<8, 3>> const data{std::vector<int>{1, 2, 3},
                                                                std::vector<int>{0}};
cn::model<net, cn::policy::cpu, cn::batch<8>> const model;
auto prediction = model.predict(data);
