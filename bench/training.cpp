// Training steps; those of the zoo's networks are in zoo/. Names are those of bench/peers:
// network/batch:…/threads:….
#include "training.hpp"

namespace {

using namespace bench;

BENCHMARK(train<convnet, 32>)->Name("convnet/batch:32")->Apply(settings);
BENCHMARK(train<convnet, 128>)->Name("convnet/batch:128")->Apply(settings);
BENCHMARK(train<convnet, 512>)->Name("convnet/batch:512")->Apply(settings);
BENCHMARK(train<dropout_cnn, 128>)->Name("dropout_cnn/batch:128")->Apply(settings);
BENCHMARK(train<vgg16_convolutions, 8>)->Name("vgg16_convolutions/batch:8")->Apply(settings);
BENCHMARK(train<wide_mlp, 128>)->Name("wide_mlp/batch:128")->Apply(settings);
BENCHMARK(train<wide_mlp, 128, clipped_adam>)->Name("wide_mlp_clipped/batch:128")->Apply(settings);
BENCHMARK(train<lstm, 32>)->Name("lstm/batch:32")->Apply(settings);
BENCHMARK(train<gru, 32>)->Name("gru/batch:32")->Apply(settings);
BENCHMARK(train<bidirectional_lstm, 32>)->Name("bidirectional_lstm/batch:32")->Apply(settings);
BENCHMARK(train<two_sequences, 32>)->Name("two_sequences/batch:32")->Apply(settings);
BENCHMARK(train<gpt, 8>)->Name("gpt/batch:8")->Apply(settings);
BENCHMARK(train<tiny_mlp, 128>)->Name("tiny_mlp/batch:128")->Apply(settings);

} // namespace
