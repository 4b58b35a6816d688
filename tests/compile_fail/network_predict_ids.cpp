// Ids are given as whole numbers.
// expect: castnet: predict takes a data set or, for each input of the network, .*or of whole numbers for input_ids and input_length
// expect: predict_takes<float, .*vector<float
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input_ids<9, 3>, cn::embedding<9, 2>, cn::flatten>;

cn::model<net, cn::policy::cpu, cn::batch<8>> const model;
auto prediction = model.predict(std::vector<float>{1, 2, 3});
