// Small networks of the kinds in the zoo, in double: output, gradients and running statistics of a
// training step are those of torchvision's and timm's.
#include <castnet/zoo/autoencoder.hpp>
#include <castnet/zoo/densenet.hpp>
#include <castnet/zoo/efficientnet.hpp>
#include <castnet/zoo/inception_v3.hpp>
#include <castnet/zoo/mixer.hpp>
#include <castnet/zoo/mobilenet_v2.hpp>
#include <castnet/zoo/resnet.hpp>
#include <castnet/zoo/unet.hpp>
#include <castnet/zoo/xception.hpp>

#include "../nn/harness.hpp"
#include "golden.hpp"

#include <cmath>
#include <string>

namespace zoo = castnet::zoo;
using castnet::input, castnet::network, check::values;

namespace {

// Numbers in [-1, 1) that depend on the name; the same as of numbers() in golden.py.
values numbers(std::string const& name, std::size_t count) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (char const c : name) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
    values all;
    for (std::size_t i = 0; i < count; ++i) {
        auto x = static_cast<std::uint32_t>(hash + i);
        x = (x ^ (x >> 16U)) * 0x85ebca6bU;
        x = (x ^ (x >> 13U)) * 0xc2b2ae35U;
        x = x ^ (x >> 16U);
        all.push_back(double(x) / 2147483648.0 - 1);
    }
    return all;
}

values initial(castnet::ir::placed_parameter const& p) {
    std::string const name = p.name.text();
    values x = numbers(name, std::size_t(p.count()));
    bool const weight = p.shape.rank > 1;
    bool const around_one = name.ends_with("weight") || name.ends_with("running_var");
    double const scale = weight ? std::sqrt(6.0 * p.shape.extent[0] / p.count()) : 0.25;
    for (double& v : x) {
        v = scale * v + (!weight && around_one ? 1 : 0);
    }
    return x;
}

double projection(std::string const& name, values const& x) {
    values const by = numbers(name, x.size());
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        sum += x[i] * by[i];
    }
    return sum;
}

template <class Network>
void same_step(std::string const& name) {
    CAPTURE(name);
    auto r = check::layer_run::of<Network, true, 4>();
    for (auto const& p : r.parameters()) {
        r.set(p.name.text(), initial(p));
    }
    r.set_input(numbers("input", r.input().size()));
    r.set_grad_output(numbers("grad_output", r.grad_output().size()));
    r.run();
    double by_parameters = 0, statistics = 0;
    for (auto const& p : r.parameters()) {
        std::string const parameter = p.name.text();
        if (p.kind == castnet::role::statistic) {
            statistics += projection("after " + parameter, r.parameter(parameter));
        } else {
            by_parameters += projection("by " + parameter, r.gradient(parameter));
        }
    }
    values const sums{projection("output", r.output()), projection("grad_input", r.grad_input()),
                      by_parameters, statistics};
    for (zoo_golden::small const& expected : zoo_golden::small_networks) {
        if (expected.name == name) {
            check::close("sums", sums, values(expected.sums, expected.sums + 4), 1e-9);
            return;
        }
    }
    FAIL("no such network in golden.hpp: " << name);
}

template <template <std::size_t, std::size_t> class Block, bool Small, std::size_t Pixels>
using small_resnet =
    network<zoo::detail::resnet<Block, 2, 1, 1, 1, 4, 3, Small>{}, input<3, Pixels, Pixels>>;
using small_mobilenet =
    network<zoo::detail::mobilenet<3, 0.0F, 8, 1280, zoo::detail::inverted<8, 1, 1>,
                                   zoo::detail::inverted<16, 2>, zoo::detail::inverted<16>>{},
            input<3, 16, 16>>;
using small_efficientnet =
    network<zoo::detail::efficientnet<3, 0.0F, 8, 24, zoo::detail::mobile_stage<1, 8, 3, 1, 1>,
                                      zoo::detail::mobile_stage<2, 16, 5, 2, 6>>{},
            input<3, 16, 16>>;
using small_densenet = network<zoo::detail::densenet<3, 4, 8, 2, 1, 1, 2>{}, input<3, 64, 64>>;
using small_inception = network<zoo::detail::inception<3, 0.0F, 16>{}, input<3, 107, 107>>;
using small_xception = network<zoo::detail::xception_layers<3, 2, 12, 16>{}, input<3, 71, 71>>;
using small_mixer = network<zoo::detail::mixer<3, 2, 6, 3, 8, 2>{}, input<3, 8, 8>>;

} // namespace

TEST_CASE("a training step is that of PyTorch") {
    same_step<small_resnet<zoo::detail::basic_block, false, 48>>("resnet_basic");
    same_step<small_resnet<zoo::detail::bottleneck, true, 16>>("resnet_bottleneck");
    same_step<small_mobilenet>("mobilenet_v2");
    same_step<small_efficientnet>("efficientnet");
    same_step<small_densenet>("densenet");
    same_step<small_inception>("inception_v3");
    same_step<small_xception>("xception");
    same_step<small_mixer>("mixer");
    same_step<zoo::unet<input<2, 32, 32>, 3, 2>>("unet");
    same_step<zoo::autoencoder>("autoencoder");
}
