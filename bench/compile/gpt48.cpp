// The training step of a GPT of 48 blocks, which are compiled as one.
#include <castnet/castnet.hpp>

namespace cn = castnet;

constexpr std::size_t symbols = 256, steps = 256, width = 384;
constexpr cn::transformer options{.feed_forward = 4 * width, .norm_first = true, .causal = true};
using gpt = cn::sequential<cn::input_ids<symbols, steps>, cn::embedding<symbols, width>,
                           cn::learned_positions,
                           cn::repeat<48, cn::transformer_encoder_layer<6, options, cn::gelu>>,
                           cn::layer_norm, cn::dense<symbols>>;
using model = cn::model<gpt, cn::policy::cpu, cn::batch<8>>;
using texts = cn::data::dataset<cn::data::label<symbols, steps>, cn::ids<symbols, steps>>;

double train(model& m, texts const& data) {
    auto training = cn::compile(m, cn::cross_entropy, cn::adam{}, cn::accuracy);
    training.fit(data);
    return training.evaluate(data).loss();
}
static_assert(gpt::parameter_count == 85'470'208);
