// Softmax of what a model predicts.
// expect: castnet: softmax and log_softmax take symbols and tensors; probabilities that a model predicts are those
// expect: softmax_takes<.*vector<float
#include <castnet/castnet.hpp>

namespace cn = castnet;

std::vector<float> const logits(6);
auto const probabilities = cn::softmax(logits);
