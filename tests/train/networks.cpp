// Whole networks against PyTorch: one weighted step with an absent sample; its loss, every
// gradient, every parameter and running statistic after it.
#include <castnet/nn/activations.hpp>
#include <castnet/nn/batch_norm.hpp>
#include <castnet/nn/binary_losses.hpp>
#include <castnet/nn/conv2d.hpp>
#include <castnet/nn/conv3d.hpp>
#include <castnet/nn/conv_transpose3d.hpp>
#include <castnet/nn/dense.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/pooling.hpp>
#include <castnet/nn/pooling3d.hpp>
#include <castnet/nn/reshape.hpp>
#include <castnet/train/compile.hpp>

#include "exact_set.hpp"
#include "policy.hpp"

namespace cn = castnet;
using check::exact_set, check::values;
using cn::batch_norm, cn::conv, cn::conv2d, cn::dense, cn::input, cn::named, cn::relu, cn::shape;

namespace {

template <std::size_t Filters, std::size_t Stride = 1>
constexpr auto conv3x3 = conv2d<Filters, 3, conv{.stride = Stride, .padding = 1}>;

template <auto Shortcut, std::size_t Filters, std::size_t Stride>
struct residual_unit {
    constexpr auto operator()(auto x) const {
        auto const body = x | named<"conv1", conv3x3<Filters, Stride>> | named<"bn1", batch_norm> |
                          relu | named<"conv2", conv3x3<Filters>> | named<"bn2", batch_norm>;
        return relu((x | named<"shortcut", Shortcut>)+body);
    }
};

template <std::size_t Filters>
constexpr auto narrow = cn::block<conv2d<Filters, 1, conv{.stride = 2}>, batch_norm>;

struct residual_network {
    constexpr auto operator()(auto image) const {
        return image | named<"stem", conv3x3<8>> | relu |
               named<"identity", residual_unit<cn::block<>, 8, 1>{}> |
               named<"projection", residual_unit<narrow<12>, 12, 2>{}> | cn::global_avg_pool2d |
               named<"head", dense<5>>;
    }
};

using residual_chain = cn::sequential<
    input<4, 8, 8>, conv3x3<8>, relu,
    cn::residual<conv3x3<8>, batch_norm, relu, conv3x3<8>, batch_norm>, relu,
    cn::projected_residual<narrow<12>, conv3x3<12, 2>, batch_norm, relu, conv3x3<12>, batch_norm>,
    relu, cn::global_avg_pool2d, dense<5>>;

struct u_shaped_network {
    constexpr auto operator()(auto image) const {
        auto const step = [](auto x, auto layer) { return relu(layer(x)); };
        auto const skip1 = step(image, named<"down1", conv3x3<4>>);
        auto const skip2 = step(skip1 | cn::max_pool2d<2>, named<"down2", conv3x3<8>>);
        auto const bottom = step(skip2 | cn::max_pool2d<2>, named<"bottom", conv3x3<8>>);
        auto const up2 =
            step(cn::concat(bottom | cn::upsample2d<2>, skip2), named<"up2", conv3x3<8>>);
        auto const up1 = step(cn::concat(up2 | cn::upsample2d<2>, skip1), named<"up1", conv3x3<4>>);
        return up1 | named<"head", conv2d<1, 1>>;
    }
};

struct u_shaped_network_of_volumes {
    static constexpr cn::conv3 same{.padding = cn::same};
    constexpr auto operator()(auto scan) const {
        auto const skip =
            scan | named<"down", cn::conv3d<4, 3, same>> | named<"norm", batch_norm> | relu;
        auto const bottom =
            skip | cn::max_pool3d<2> | named<"bottom", cn::conv3d<8, 3, same>> | relu;
        auto const up = bottom |
                        named<"up", cn::conv_transpose3d<4, 2, cn::conv_transpose3{.stride = 2}>> |
                        relu;
        return cn::concat(up, skip) | named<"head", cn::conv3d<1, 1>>;
    }
};

struct two_inputs {
    static constexpr auto encoder = cn::shared<"encoder", cn::block<dense<16>, cn::tanh, dense<8>>>;
    constexpr auto operator()(auto a, auto b) const {
        return cn::concat(a | encoder, b | encoder) | named<"head", dense<3>>;
    }
};

// `rename` says how castnet calls the parameter that PyTorch calls so.
template <class Network, class Data, class Loss, class Rename>
void one_step(std::string const& name, Loss loss, std::vector<std::string> const& inputs,
              Rename rename, std::string const& in_file = "graphs") {
    constexpr double tolerance = 1e-12;
    check::golden_file const file{in_file};
    auto const golden = [&](std::string const& what) { return file[name + "/" + what]; };
    cn::model<Network, check::policy, cn::batch<4>> model;
    for (char const* const kind : {"param/", "running_before/"}) {
        for (std::string const& p : file.names(name + "/" + kind)) {
            model.set(rename(p), golden(kind + p));
        }
    }
    auto training = cn::compile(model, loss, cn::sgd{});
    std::vector<values> x;
    for (std::string const& i : inputs) {
        x.push_back(golden(i));
    }
    Data const data{x, golden("target"), golden("sample_weight")};
    constexpr double rate = 0.25;
    auto const scores = training.step(data, data.samples(), rate);

    CHECK(scores.weight == 3.5);
    check::close("loss", check::values{scores.loss()}, golden("loss"), tolerance);
    std::size_t compared = 0;
    for (std::string const& p : file.names(name + "/param/")) {
        values const gradient = golden("grad/" + p), before = golden("param/" + p);
        check::close("gradient by " + p, training.gradient(rename(p)), gradient, tolerance);
        values after;
        for (std::size_t i = 0; i < before.size(); ++i) {
            after.push_back(before[i] - rate * gradient[i]);
        }
        check::close(p, model.get(rename(p)), after, tolerance);
        ++compared;
    }
    for (std::string const& p : file.names(name + "/running_after/")) {
        check::close(p, model.get(rename(p)), golden("running_after/" + p), tolerance);
        ++compared;
    }
    CHECK(compared == model.parameter_tensors());
}

auto const same_name = [](std::string const& name) { return name; };

// The residual network's names in PyTorch, and in the chain of layers.
std::string in_chain(std::string const& name) {
    constexpr char const* names[][2] = {{"stem", "0"},
                                        {"identity.conv1", "2.0"},
                                        {"identity.bn1", "2.1"},
                                        {"identity.conv2", "2.3"},
                                        {"identity.bn2", "2.4"},
                                        {"projection.shortcut", "4.shortcut"},
                                        {"projection.conv1", "4.0"},
                                        {"projection.bn1", "4.1"},
                                        {"projection.conv2", "4.3"},
                                        {"projection.bn2", "4.4"},
                                        {"head", "7"}};
    for (auto const& [theirs, ours] : names) {
        std::string const prefix = std::string{theirs} + ".";
        if (name.starts_with(prefix)) {
            return ours + name.substr(prefix.size() - 1);
        }
    }
    return name;
}

} // namespace

TEST_CASE("residual blocks and batch_norm, as functions") {
    one_step<cn::network<residual_network{}, input<4, 8, 8>>,
             exact_set<cn::data::label<5>, shape<4, 8, 8>>>("residual", cn::cross_entropy,
                                                            {"input"}, same_name);
}

TEST_CASE("residual blocks and batch_norm, as a chain of layers") {
    one_step<residual_chain, exact_set<cn::data::label<5>, shape<4, 8, 8>>>(
        "residual", cn::cross_entropy, {"input"}, in_chain);
}

TEST_CASE("pooling, up-sampling and joined branches") {
    one_step<cn::network<u_shaped_network{}, input<2, 16, 16>>,
             exact_set<shape<1, 16, 16>, shape<2, 16, 16>>>("u_shaped", cn::binary_cross_entropy,
                                                            {"input"}, same_name);
}

TEST_CASE("convolutions, pooling and joined branches of volumes") {
    one_step<cn::network<u_shaped_network_of_volumes{}, input<1, 4, 6, 4>>,
             exact_set<shape<1, 4, 6, 4>, shape<1, 4, 6, 4>>>("u_shaped", cn::binary_cross_entropy,
                                                              {"input"}, same_name, "volumes");
}

TEST_CASE("two inputs through one encoder") {
    one_step<cn::network<two_inputs{}, input<12>, input<12>>,
             exact_set<cn::data::label<3>, shape<12>, shape<12>>>("two_input", cn::cross_entropy,
                                                                  {"input0", "input1"}, same_name);
}
