// Values that are computed again for the backward pass have the same bits. (Memory:
// plan/memory.cpp.)
#include <castnet/castnet.hpp>

#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace cn = castnet;
using cn::conv, cn::conv2d, cn::dense, cn::input;

namespace {

struct keeping_device : cn::cpu_device<float> {
    using executor = cn::cpu::executor<keeping_device>;
    static constexpr bool recomputes = false;
};
struct keeping : cn::policy::cpu {
    using device = keeping_device;
};

template <class Network, class Target>
auto samples_for() {
    using dataset = cn::data::dataset<Target, cn::detail::nth_of<0, typename Network::inputs>>;
    constexpr std::size_t count = 5;
    std::vector<float> x(count * dataset::template input_shape<0>::count);
    std::vector<float> y(count * dataset::template target_shape<0>::count);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = float(i * 37 % 101) / 50 - 1;
    }
    for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] = float(i % 7) / 7;
    }
    return dataset{std::move(x), std::move(y)};
}

// The parameters after a few steps.
struct trained {
    std::vector<std::vector<float>> parameters;
    int launches;
};
template <class Network, class Target, class Policy>
trained train() {
    cn::model<Network, Policy, cn::batch<3>> model{cn::seed{2}};
    auto training = cn::compile(model, cn::mse, cn::adam{.learning_rate = 0.01});
    training.fit(samples_for<Network, Target>(), {.epochs = 2, .verbose = cn::verbosity::silent});
    trained result{{}, training.training_plan().sizes.launches};
    for (std::size_t i = 0; i < model.parameter_tensors(); ++i) {
        result.parameters.push_back(model.get(model.parameter_at(i).name.text()));
    }
    return result;
}

template <class Network, class Target>
void check(char const* name) {
    CAPTURE(std::string{name});
    trained const kept = train<Network, Target, keeping>(),
                  again = train<Network, Target, cn::policy::cpu>();
    CHECK(again.launches != kept.launches); // something is
    CHECK(again.parameters == kept.parameters);
}

constexpr auto same = conv{.padding = 1};
using images = cn::sequential<input<2, 64, 64>, conv2d<8, 3, same>.no_bias(), cn::batch_norm,
                              cn::relu, cn::residual<conv2d<8, 3, same>.no_bias(), cn::batch_norm>,
                              cn::silu, conv2d<8, 3, same>, cn::dropout<0.5F>, conv2d<8, 3, same>,
                              cn::gelu, cn::max_pool2d<4>, conv2d<32, 3, same>, cn::batch_norm,
                              cn::relu6, cn::global_avg_pool2d, dense<3>>;

constexpr auto feed_forward = cn::residual<cn::layer_norm, dense<256>, cn::gelu, dense<64>>;
using sequences = cn::sequential<input<200, 8>, dense<64>, feed_forward, feed_forward, feed_forward,
                                 feed_forward, cn::rms_norm, dense<2>>;
using repeated =
    cn::sequential<input<200, 64>, cn::repeat<6, feed_forward>, cn::layer_norm, dense<2>>;

struct skipping { // what is computed again is read where it is far away, too
    constexpr auto operator()(auto x) const {
        auto const first = x | conv2d<8, 3, same> | cn::batch_norm | cn::relu;
        auto const last = first | cn::max_pool2d<2> | conv2d<8, 3, same> | cn::upsample2d<2>;
        return cn::concat(first, last) | cn::batch_norm | cn::tanh | conv2d<1, 1>;
    }
};
using branches = cn::network<skipping{}, input<2, 64, 64>>;

struct drifting { // times numbers that the step changes
    template <cn::Shape S>
    constexpr auto operator()(cn::symbol<S> x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{"drifting"}};
        auto const scale = cn::new_statistic<cn::shape<8>>(*x.g, "scale", cn::ones);
        cn::update(scale, scale + 1);
        return cn::square(x) * cn::along_channels(scale);
    }
};
using with_statistics = cn::sequential<input<2, 64, 64>, conv2d<8, 3, same>, cn::batch_norm,
                                       cn::relu, conv2d<8, 3, same>, drifting{}, conv2d<1, 1>>;

} // namespace

TEST_CASE("values that are computed again for the backward pass") {
    check<images, cn::shape<3>>("images");
    check<sequences, cn::shape<200, 2>>("sequences");
    check<repeated, cn::shape<200, 2>>("repeated block");
    check<branches, cn::shape<1, 64, 64>>("branches");
    check<with_statistics, cn::shape<1, 64, 64>>("statistics");
}
