// What the benchmarks train: networks, their losses, and random samples of the right shapes.
#pragma once

#include <castnet/castnet.hpp>
#include <castnet/zoo/mobilenet_v2.hpp>

#include <sys/resource.h>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace bench {

namespace cn = castnet;

// The network of the README on images of 28 x 28: 93,322 parameters.
struct convnet {
    using network = cn::sequential<cn::input<1, 28, 28>,                           //
                                   cn::conv2d<32, 3>, cn::relu, cn::max_pool2d<2>, //
                                   cn::conv2d<64, 3>, cn::relu, cn::max_pool2d<2>, //
                                   cn::conv2d<64, 3>, cn::relu,                    //
                                   cn::flatten, cn::dense<64>, cn::relu, cn::dense<10>>;
    using dataset = cn::data::dataset<cn::data::label<10>, cn::shape<1, 28, 28>>;
    static constexpr auto loss = cn::cross_entropy;
};
static_assert(convnet::network::parameter_count == 93'322);

// The network of Keras' and Horovod's MNIST examples.
struct dropout_cnn {
    using network = cn::sequential<cn::input<1, 28, 28>,                           //
                                   cn::conv2d<32, 3>, cn::relu,                    //
                                   cn::conv2d<64, 3>, cn::relu, cn::max_pool2d<2>, //
                                   cn::dropout<0.25F>, cn::flatten,                //
                                   cn::dense<128>, cn::relu, cn::dropout<0.5F>, cn::dense<10>>;
    using dataset = convnet::dataset;
    static constexpr auto loss = cn::cross_entropy;
};
static_assert(dropout_cnn::network::parameter_count == 1'199'882);

// The convolutions of VGG16 on images of 224 x 224 pixels, with the mean of each channel
// classified.
struct vgg16_convolutions {
    template <size_t Filters>
    static constexpr auto conv = cn::conv2d<Filters, 3, cn::conv{.padding = 1}>.init(cn::he_normal);
    static constexpr auto two =
        cn::block<conv<64>, cn::relu, conv<64>, cn::relu, cn::max_pool2d<2>, conv<128>, cn::relu,
                  conv<128>, cn::relu, cn::max_pool2d<2>>;
    template <size_t Filters>
    static constexpr auto three = cn::block<conv<Filters>, cn::relu, conv<Filters>, cn::relu,
                                            conv<Filters>, cn::relu, cn::max_pool2d<2>>;
    using network = cn::sequential<cn::input<3, 224, 224>, two, three<256>, three<512>, three<512>,
                                   cn::global_avg_pool2d, cn::dense<10>>;
    using dataset = cn::data::dataset<cn::data::label<10>, cn::shape<3, 224, 224>>;
    static constexpr auto loss = cn::cross_entropy;
};
static_assert(vgg16_convolutions::network::parameter_count == 14'719'818);

// MobileNetV2 (Sandler et al. 2018) on images of 96 x 96 with 1000 classes.
struct mobilenetv2 {
    using network = cn::zoo::mobilenet_v2_of<cn::input<3, 96, 96>, 1000>;
    using dataset = cn::data::dataset<cn::data::label<1000>, cn::shape<3, 96, 96>>;
    static constexpr auto loss = cn::cross_entropy;
};
static_assert(mobilenetv2::network::parameter_count == 3'504'872);

// A multi-layer perceptron of large products.
struct wide_mlp {
    using network = cn::sequential<cn::input<784>, cn::dense<512>, cn::relu, cn::dense<512>,
                                   cn::relu, cn::dense<10>>;
    using dataset = cn::data::dataset<cn::data::label<10>, cn::shape<784>>;
    static constexpr auto loss = cn::cross_entropy;
};
static_assert(wide_mlp::network::parameter_count == 669'706);

// One LSTM over 140 steps of 256 features, such as the words of a short text.
struct lstm {
    using network = cn::sequential<cn::input<140, 256>, cn::lstm<64>, cn::dense<10>>;
    using dataset = cn::data::dataset<cn::data::label<10>, cn::shape<140, 256>>;
    static constexpr auto loss = cn::cross_entropy;
};
static_assert(lstm::network::parameter_count == 83'082);

// The same with a GRU, and in both directions.
struct gru : lstm {
    using network = cn::sequential<cn::input<140, 256>, cn::gru<64>, cn::dense<10>>;
};
struct bidirectional_lstm : lstm {
    using network =
        cn::sequential<cn::input<140, 256>, cn::bidirectional<cn::lstm<64>>, cn::dense<10>>;
};

// Two such sequences through one LSTM.
struct two_sequences {
    struct function {
        constexpr auto operator()(auto a, auto b) const {
            constexpr auto shared = cn::shared<"lstm", cn::lstm<64>>;
            return cn::concat(a | shared, b | shared) | cn::dense<10>;
        }
    };
    using network = cn::network<function{}, cn::input<140, 256>, cn::input<140, 256>>;
    using dataset =
        cn::data::dataset<cn::data::label<10>, cn::shape<140, 256>, cn::shape<140, 256>>;
    static constexpr auto loss = cn::cross_entropy;
};
static_assert(two_sequences::network::parameter_count == 83'722);

// nanoGPT's transformer for characters (Karpathy), without dropout: six blocks of six heads, 384
// features, texts of 256 characters.
struct gpt {
    static constexpr size_t vocabulary = 65, time = 256, features = 384;
    static constexpr cn::transformer options{
        .feed_forward = 4 * features, .dropout = 0, .norm_first = true, .causal = true};
    static constexpr auto block = cn::transformer_encoder_layer<6, options, cn::gelu>;
    using network =
        cn::sequential<cn::input_ids<vocabulary, time>, cn::embedding<vocabulary, features>,
                       cn::learned_positions, block, block, block, block, block, block,
                       cn::layer_norm, cn::dense<vocabulary>>;
    using dataset = cn::data::dataset<cn::data::label<vocabulary, time>, cn::ids<vocabulary, time>>;
    static constexpr auto loss = cn::cross_entropy;
};
static_assert(gpt::network::parameter_count == 10'795'841);

// A regression so small that only the overhead of a step counts.
struct tiny_mlp {
    using network = cn::sequential<cn::input<13>, cn::dense<16>, cn::relu, cn::dense<32>, cn::relu,
                                   cn::dense<1>>;
    using dataset = cn::data::dataset<cn::shape<1>, cn::shape<13>>;
    static constexpr auto loss = cn::mse;
};
static_assert(tiny_mlp::network::parameter_count == 801);

// Real inputs and targets uniform in [0, 1), ids and labels uniform; the same in every run.
template <class Dataset>
Dataset random_samples(size_t count) {
    cn::data::detail::random_stream random{0x62656e63, 42, 0};
    std::vector<float> inputs(count * Dataset::template input_shape<0>::count);
    std::vector<float> targets(count * Dataset::template target_shape<0>::count);
    for (float& x : inputs) {
        if constexpr (cn::is_ids<typename Dataset::template input_shape<0>>) {
            x = float(random.below(Dataset::template input_shape<0>::values));
        } else {
            x = float(random.uniform());
        }
    }
    for (float& t : targets) {
        if constexpr (cn::data::is_label<typename Dataset::target_type>) {
            t = float(random.below(Dataset::target_type::classes));
        } else {
            t = float(random.uniform());
        }
    }
    if constexpr (Dataset::input_count == 2) { // of one shape
        return Dataset{inputs, inputs, targets};
    } else {
        return Dataset{std::move(inputs), std::move(targets)};
    }
}

// The most memory that this process has had.
inline double peak_megabytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return double(usage.ru_maxrss) / 1024;
}

// Without OpenMP there is one thread only.
inline void use_threads([[maybe_unused]] int count) {
#ifdef _OPENMP
    omp_set_num_threads(count);
#endif
}

#ifdef _OPENMP
inline constexpr int most_threads = 2;
#else
inline constexpr int most_threads = 1;
#endif

} // namespace bench
