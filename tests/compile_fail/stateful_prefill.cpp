// Steps of ids are whole numbers, one after the other.
// expect: castnet: stateful_predictor::prefill takes some steps of each input of the network
// expect: step_sequences_fit<
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input_ids<9, 4>, cn::embedding<9, 3>, cn::gru<2>>;

int main() {
    cn::model<net, cn::policy::cpu, cn::batch<1>> const model;
    cn::stateful_predictor steps{model};
    steps.prefill(std::vector<float>{1, 2});
}
