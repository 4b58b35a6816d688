// The castnet column of the tables "From Keras and PyTorch" in docs/guide.md; check_snippets.sh
// looks for its code here.
#include <castnet/castnet.hpp>
#include <castnet/data/pad_sequences.hpp>
#include <castnet/policy/mirrored.hpp>
#include <castnet/train/report.hpp>
#include <castnet/train/tensorboard.hpp>
#include <castnet/zoo/mobilenet_v2.hpp>
#include <castnet/zoo/resnet.hpp>
#include <castnet/zoo/vgg.hpp>

#include "../temporary_path.hpp"

#include <doctest/doctest.h>

namespace castnet { // which the tables leave out
namespace {

struct centred {
    constexpr auto operator()(auto x) const {
        scope_guard const scope{*x.g, layer_kind{"centred"}};
        auto mean = new_statistic<shape<64>>(*x.g, "mean");
        if (x.g->trains()) {
            mean = update(mean, lerp(mean, batch_mean(x), 0.1));
        }
        return x - mean;
    }
};
struct scaled_tanh {
    constexpr auto operator()(auto x) const { return 1.7 * tanh(x); }
};

using images =
    sequential<input<3, 28, 28>, conv2d<32, 3, conv{.padding = same}>.init(he_normal), batch_norm,
               relu, conv2d<32, size2{1, 3}, conv{.padding = size2{0, 1}}>,
               conv2d<32, 3, conv{.groups = 4}>.no_bias(), leaky_relu.slope(0.2), max_pool2d<2>,
               avg_pool2d<3, pooling{.stride = 1}>, upsample2d<2>, spectral_norm<conv2d<32, 3>>,
               conv2d<32, 3, conv{.stride = 2, .padding = 1}>, elu.alpha(0.5), flatten,
               dropout<0.5>, dropout<0.5>.always(), dense<24>.l2(1e-4), gelu, gelu_tanh,
               reshape<4, 6>, softmax.along<0>, flatten, named<"head", dense<64>>, silu, selu,
               softplus, glu, frozen<dense<64>, scaled_tanh{}>, residual<dense<64>, relu>,
               centred{}, repeat<12, dense<64>>, sigmoid, tanh, relu6, dense<10>, softmax>;

using of_images = sequential<
    input<3, 28, 28>, depthwise_conv2d<3>, depthwise_conv2d<3, conv{}, 2>,
    separable_conv2d<32, 3, conv{.padding = same}>, squeeze_excitation<8>, channel_shuffle<2>,
    pixel_shuffle<2>, pixel_unshuffle<2>, prelu, prelu.per_channel(), spatial_dropout<0.5>,
    stochastic_depth<0.2>, gaussian_noise<0.1>, gaussian_dropout<0.1>, alpha_dropout<0.1>,
    conv_transpose2d<32, 3, conv_transpose{.stride = 2, .padding = 1, .output_padding = 1}>,
    conv_transpose2d<32, 3, conv_transpose{.stride = 2, .padding = same}>,
    zero_pad2d<sides{1, 2, 3, 0}>, reflection_pad2d<1>, replication_pad2d<1>, circular_pad2d<1>,
    crop2d<2>, adaptive_max_pool2d<7>, upsample2d<2>.bilinear(), adaptive_avg_pool2d<size2{7, 5}>>;

using of_places = sequential<input<3, 8, 8>, unfold2d<3, conv{.padding = 1}>>;

using of_volumes =
    sequential<input<1, 8, 8, 8>, conv3d<32, 3, conv3{.padding = same}>, upsample3d<2>,
               conv3d<32, size3{1, 3, 3}, conv3{.stride = size3{1, 2, 2}}>, max_pool3d<2>,
               conv_transpose3d<32, 2, conv_transpose3{.stride = 2}>, avg_pool3d<2>,
               upsample3d<2>.trilinear(), global_avg_pool3d>;
using rest_of_volumes =
    sequential<input<1, 8, 8, 8>, conv3d<32, size3{1, 3, 3}, conv3{.padding = size3{0, 1, 1}}>,
               conv3d<32, 3, conv3{.dilation = size3{1, 2, 2}}>,
               adaptive_avg_pool3d<size3{4, 7, 7}>, adaptive_max_pool3d<7>, global_max_pool3d>;

struct sampled {
    constexpr auto operator()(auto x) const {
        auto const mean = x | dense<64>, v = x | dense<64>;
        return mean + exp(0.5 * v) * normal_noise(mean);
    }
};
using code = network<sampled{}, input<9>>;
using tied_halves =
    sequential<input<64>, shared<"first", dense<9>>, shared<"first", tied_dense<64>>>;

struct chosen_value {
    constexpr auto operator()(auto q, auto action) const {
        auto const x = action;
        return outputs(one_hot<4>(x), sum(q * one_hot<4>(action)));
    }
};
struct binarized { // 1 or -1, with the gradient of x: straight through
    constexpr auto operator()(auto x) const { return x + (sign(x) - stop_gradient(x)); }
};
using binary_code = sequential<input<4>, dense<8>, binarized{}>;
using values_of_actions = network<chosen_value{}, input<4>, input_ids<4>>;

using normalisations =
    sequential<input<6, 8, 8>, layer_norm, layer_norm.over_all_axes(), batch_norm.no_affine(),
               rms_norm, group_norm<3>, instance_norm.affine(), instance_norm,
               local_response_norm<5>.with_k(2)>;

using attention_to_itself = sequential<input<10, 16>, multi_head_attention<8>.dropout(0.1),
                                       multi_head_attention<8>.causal()>;
using transformers = sequential<input<10, 16>, sinusoidal_positions, learned_positions,
                                multi_head_attention<8>.rotary(),
                                transformer_encoder_layer<8, transformer{.feed_forward = 64}>>;
static_assert(transformer{} == transformer{.dropout = 0.1, .norm_first = false, .epsilon = 1e-5});
using causal_transformers =
    sequential<input<10, 16>, transformer_encoder_layer<8, transformer{.causal = true}>>;
static_assert(causal_transformers::parameter_count > 0);
struct decoder {
    constexpr auto operator()(auto x, auto memory) const {
        return transformer_decoder_layer<8, transformer{.feed_forward = 64}>(x, memory);
    }
};
using decoders = network<decoder{}, input<10, 16>, input<7, 16>>;
struct decoder_of_sets {
    constexpr auto operator()(auto x, auto memory) const {
        return transformer_decoder_layer<8>.not_causal()(x, memory);
    }
};
static_assert(network<decoder_of_sets{}, input<10, 16>, input<7, 16>>::parameter_count > 0);
struct attention_to_memory {
    constexpr auto operator()(auto x, auto memory, auto lengths) const {
        auto const q = multi_head_attention<8>(x, memory, length_mask(lengths)), k = x, v = x;
        return attention<8>(q, k, v);
    }
};
using text_layers =
    sequential<input_ids<20'000, 200>, embedding<20'000, 64>, conv1d<64, 3, conv{.padding = same}>,
               weight_norm<conv1d<64, 3>>, max_pool1d<2>, avg_pool1d<2>,
               conv1d<64, 3, conv{.padding = causal}>, pad<0, 2, 1>,
               conv_transpose1d<32, 4, conv_transpose{.stride = 2}>, upsample1d<2>,
               upsample1d<2>.linear(), reverse<0>, reflection_pad<0, 2, 1>,
               replication_pad<0, 2, 1>, circular_pad<0, 2, 1>, dense<64>,
               shared<"words", tied_output<20'000>>, global_max_pool1d>;
struct parts {
    constexpr auto operator()(auto words, auto lengths) const {
        auto const x = words | embedding<20'000, 64>.padding_idx(0);
        auto const a = slice<0, 2, 5>(x), b = slice<0, 0, 3>(split<0, 2>(x)[1]);
        auto const pooled = global_avg_pool1d(x, lengths) + (cumsum(x) | global_avg_pool1d) +
                            (roll<0>(x, 3) | global_max_pool1d);
        return outputs(concatenate<0>(a, b), stack<0>(a, b), pooled, slice<0, 1, 9, 3>(x),
                       repeat_interleave<0, 2>(x), tile<2, 1>(x));
    }
};
struct edges {
    constexpr auto operator()(auto h, auto ids) const {
        auto const ends = gather_rows(h, ids) * take<0>(h, std::array{2, 0});
        return outputs(ends, largest<2>(h).values, einsum<"ij,kj->ik">(h, h));
    }
};
using ends_of_edges = network<edges{}, input<5, 3>, input_ids<5, 2>>;
struct repeated_vector {
    constexpr auto operator()(auto x) const { return broadcast_to<7, 64>(x); }
};
using repeated_vectors = sequential<input<64>, repeated_vector{}>;
using encoded_vector = sequential<input<6, 4>, lstm<64>, repeat_vector<7>, lstm<8>>;
using parts_of_words = network<parts{}, input_ids<20'000, 200>, input_length<200>>;

using two_sequences = network<attention_to_memory{}, input<10, 16>, input<7, 16>, input<1>>;

struct products {
    constexpr auto operator()(auto a, auto b) const {
        return (matmul(a, b) + matmul_transposed(a, b)) | permute<1, 0>;
    }
};
using product_of_two = network<products{}, input<6, 6>, input<6, 6>>;

struct two_branches {
    static constexpr auto encoder = shared<"encoder", conv2d<32, 3>>;

    constexpr auto operator()(auto a, auto b) const {
        auto const x = a | conv2d<32, 3>;
        auto const left = ((x - mean<0>(x, keepdims)) | global_avg_pool2d) + max<1, 2>(x);
        auto const right = encoder(b) | global_max_pool2d;
        return outputs(concat(left, right), left + right);
    }
};
using sequences =
    sequential<input<9, 5>, lstm<64>.return_sequences(), gru<64>.return_sequences(),
               rnn<64>.return_sequences(), lstm<64>.layers<3>(0.2).return_sequences(),
               lstm<64>.recurrent_dropout(0.2).return_sequences(), bidirectional<gru<64>>>;
using of_image_sequences = sequential<input<3, 4, 8, 8>, conv_lstm2d<32, 3, conv{.padding = same}>>;

template <class Model>
using one_step_of = stateful_predictor<Model>;

struct summed_up {
    constexpr auto operator()(auto x, auto lengths) const {
        auto const initial = shape<5>{};
        auto const cell = [](auto x_t, auto sum) { return x_t + sum; };
        return concat(scan(x, initial, cell).last,
                      scan(with_lengths(x, lengths), initial, cell).last);
    }
};
using graph_of_sequence = network<summed_up{}, input<9, 5>, input<>>;

using graph_of_two = network<two_branches{}, input<3, 28, 28>, input<3, 28, 28>>;

using named_networks =
    type_list<zoo::resnet50, zoo::vgg16, zoo::mobilenet_v2_of<input<3, 96, 96>, 20>>;

template <auto... L>
constexpr bool are_losses = (Loss<std::remove_cvref_t<decltype(L)>> && ...);
static_assert(
    are_losses<cross_entropy, class_weighted<cross_entropy, 4>, ignore_index<0, cross_entropy>,
               smoothed_cross_entropy<0.1>, categorical_cross_entropy,
               smoothed_categorical_cross_entropy_loss{.smoothing = 0.1},
               focal_cross_entropy_loss{.alpha = 0.25, .gamma = 2}, binary_cross_entropy,
               binary_focal_cross_entropy_loss{.alpha = 0.25, .gamma = 2}, mse, mae, mape, msle,
               huber_loss{.delta = 1}, huber<1>, log_cosh, hinge, squared_hinge, categorical_hinge,
               kl_divergence, poisson_nll, gaussian_nll, cosine_similarity,
               triplet_margin_loss{.margin = 0.2}, contrastive_loss{.margin = 2},
               cosine_embedding_loss{.margin = 0.2}, margin_ranking_loss{.margin = 0.2},
               hinge_embedding_loss{.margin = 2}, dice, tversky_loss{.alpha = 0.3, .beta = 0.7},
               ctc<27, 10>.zero_infinity()>);
using of_two_outputs = decltype(losses<cross_entropy, loss_weight<0.5, mse>>);

template <auto... M>
constexpr bool are_metrics = (Metric<std::remove_cvref_t<decltype(M)>> && ...);
static_assert(are_metrics<accuracy, perplexity, categorical_accuracy, binary_accuracy, top_k<5>,
                          mae, precision_metric{.threshold = 0.7}, recall, f_beta_metric{.beta = 2},
                          f1, macro_precision, macro_recall, macro_f1, auc, pr_auc,
                          confusion_matrix<4>, mean_iou, rmse, r2>);
using of_second_output = decltype(on_output<1, mae>);

template <Optimizer... O>
constexpr bool are_optimizers(O const&...) {
    return true;
}
static_assert(are_optimizers(sgd{.learning_rate = 0.01},
                             momentum{.learning_rate = 0.01, .nesterov = true}, rmsprop{},
                             rmsprop_momentum{.centered = true}, adam{.learning_rate = 1e-3},
                             adamw{.weight_decay = 0.01}, amsgrad{}, nadam{}, adamax{}, radam{},
                             lion{}, lamb{}, muon{.adamw_rate = 0.1}, adagrad{}, adadelta{}));

template <Policy... P>
constexpr bool are_policies = true;
static_assert(are_policies<policy::cpu, policy::basic_cpu<double>, policy::bf16<policy::cpu>,
                           policy::mirrored<policy::cpu, 4>>);
using on_gpus = type_list<policy::cuda, policy::bf16<policy::cuda>>;

} // namespace

TEST_CASE("tables of the guide") {
    CHECK(images::parameter_count > 0);
    CHECK(of_images::parameter_count > 0);
    CHECK(of_places::parameter_count == 0);
    CHECK(encoded_vector::parameter_count == 4 * 64 * (4 + 64 + 2) + 4 * 8 * (64 + 8 + 2));
    CHECK(sequences::parameter_count > 0);
    CHECK(text_layers::parameter_count > 0);
    CHECK(parts_of_words::parameter_count == 20'000 * 64);
    CHECK(ends_of_edges::parameter_count == 0);
    std::vector<std::vector<int>> const texts{{1, 2}, {3}};
    CHECK(data::pad_sequences<200>(texts).lengths.size() == 2);
    CHECK(graph_of_sequence::parameter_count == 0);
    CHECK(graph_of_two::parameter_count == 2 * (3 * 32 * 9 + 32));
    for (schedule const& s : {one_cycle(4e-3), cosine_decay(1e-2), step_decay(1e-2, 0.5, 1000),
                              exponential_decay(1e-2, 0.5, 1000), polynomial_decay(1e-2, 1e-4, 2),
                              cosine_restarts(1e-2, 500), multi_step_decay(1e-2, 0.1, {500, 800}),
                              followed_by(step_decay(1e-2, 0.5, 100), 500, cosine_decay(1e-2)),
                              warm_up(500, cosine_decay(1e-2))}) {
        CHECK(s(10, 1000) > 0);
    }
    CHECK(clip_norm(adam{}, 1).max_norm == 1);
    CHECK(clip_each_norm(adam{}, 1).max_norm == 1);
    CHECK(clip_value(adam{}, 0.5).max_value == 0.5);
    CHECK(accumulate<4>(adam{}).learning_rate == 1e-3);
    CHECK(ema(adam{}, 0.99).slots == 3);
    CHECK(lazy(adam{}).slots == 2);
    CHECK(groups(adamw{}, parameter_group{.names = "head.*", .rate = 10}).slots == 2);

    std::vector<float> const x = {0, 0, 0, 1, 1, 0, 1, 1, 2, 2};
    std::vector<int> const y = {0, 1, 2, 3, 0};
    check::temporary_path const place{"table.safetensors"};
    std::string const& file = place.name;

    std::string const folder = "nowhere";
    CHECK_THROWS_AS(data::fashion_mnist(folder), error);

    data::dataset<data::label<4>, shape<2>> data{x, y};
    auto [train, test] = data.split(0.8);
    model<sequential<input<2>, dense<4>, batch_norm>, policy::cpu, batch<128>> model{seed{42}};
    auto training = compile(model, cross_entropy, adam{}, accuracy);
    auto history = training.fit(train, {.epochs = 5, .validation = test});
    CHECK(history["val_loss"].size() == 5);
    training.fit(
        train.with_weights({1, 2, 0, 1}),
        {.schedule = [](std::uint64_t step, std::uint64_t) { return step < 2 ? 0.1 : 0.01; },
         .validation = test,
         .class_weight = {1, 1, 1, 2},
         .shuffle = false,
         .verbose = verbosity::silent,
         .checkpoint = checkpoint(training, file),
         .on_epoch_end = [](epoch_report& report) { report.stop = true; },
         .allow_nan = true});
    load(training, file);
    history.save_csv(file);
    report page{"title"};
    page.add(history);
    auto const f = [](step_report& report) { report.stop = true; };
    training.fit(train,
                 {.validation = test,
                  .verbose = verbosity::silent,
                  .callbacks = {on_step_end{f}, early_stopping{.patience = 3},
                                reduce_on_plateau{.factor = 0.1, .patience = 10}, csv_log{file},
                                step_times{}, save_best{model, file}, tensorboard{folder}}});

    std::vector<callback> const kept{save_each{model, "weights-{epoch}"},
                                     save_each{training, "{epoch}", {.keep = 5}}};
    CHECK(kept.size() == 2);

    save(model, file);
    load(model, file);
    load(model, file, partial{.skip_mismatch = true});
    std::vector<float> bias = model.get("0.bias");
    model.set("0.bias", bias);
    decltype(model) target;
    copy_parameters(model, target), copy_parameters(model, target, 0.005);

    std::vector<std::size_t> const samples = {0, 1};
    training.step(train, samples, 0.1);
    training.freeze("0.*"), training.unfreeze("*");
    training.update_statistics(data);
    CHECK(training.gradient("0.bias").size() == 4);
    CHECK(training.evaluate(test).weight == 1);
    auto [loss, right] = training.evaluate(test);
    CHECK(loss > 0);
    CHECK(right >= 0);
    CHECK(model.predict(x).size() == 20);
    CHECK(!summary(model).empty());
    CHECK(network_picture(model).starts_with("<svg"));
    CHECK(on_device(train).size() == 4);
}

TEST_CASE("curves of the guide's tables") {
    std::vector<float> const x = {0, 0, 0, 1, 1, 0, 1, 1, 2, 2}, y = {0, 1, 0, 1, 1};
    data::dataset<shape<1>, shape<2>> test{x, y};
    model<sequential<input<2>, named<"body", dense<1>>>, policy::cpu, batch<8>> model{seed{42}};
    auto training = compile(model, binary_cross_entropy, adam{}, auc);
    CHECK(output_of<"body">(model, x) == model.predict(x));
    CHECK(training.evaluate(test).counts<"auc">().roc().size() == 200);
    CHECK(training.evaluate(test).counts<"auc">().precision_recall().size() == 200);
}

} // namespace castnet
