// Every convolution of the example networks, as cuDNN would run it on an H200. No GPU is needed:
// cuDNN plans for the device that a file describes.
#include <castnet/device/cuda/conv.hpp>
#include <castnet/nn/window.hpp>
#include <castnet/train/program.hpp>
#include <castnet/zoo/resnet.hpp>
#include <castnet/zoo/vgg.hpp>

#include "../../bench/networks.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace cn = castnet;
namespace cudnn = castnet::cuda::cudnn;
using cn::op;

namespace {

constexpr std::int64_t most_workspace = std::int64_t{256} << 20;

cudnn::target const& h200() {
    static cudnn::target const described = [] {
        std::ifstream file{"h200.json"};
        REQUIRE(file);
        return cudnn::target{std::string{std::istreambuf_iterator<char>{file}, {}}};
    }();
    return described;
}

// What policy::cuda gives cuDNN.
struct finishing {
    static constexpr cn::scratch_size scratch(cn::step const&, cn::window const*,
                                              cn::instruction const&) {
        return {};
    }
    static constexpr bool takes_epilogue(op product, cn::epilogue const& e) {
        return cn::cuda::takes_epilogue<float>(product, e);
    }
};

// Every kind of arithmetic that a policy may ask for.
std::vector<cudnn::convolution> with_all_arithmetic(cudnn::convolution c) {
    std::vector<cudnn::convolution> all;
    for (auto const type : {CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE, CUDNN_DATA_BFLOAT16}) {
        c.type = type;
        c.tensor_cores = type == CUDNN_DATA_BFLOAT16;
        all.push_back(c);
    }
    c.type = CUDNN_DATA_FLOAT;
    c.tensor_cores = true;
    all.push_back(c);
    return all;
}

void has_plan(cudnn::convolution const& c, std::int64_t workspace = most_workspace) {
    CAPTURE(cudnn::text_of(c));
    CAPTURE(c.type);
    CAPTURE(c.tensor_cores);
    auto const plans =
        cudnn::plans_of(cudnn::graph_of(c, h200()), h200(), {c.tensor_cores, workspace});
    REQUIRE(plans.size() == 1);
    CHECK(plans[0].workspace <= workspace);
    if (!c.tensor_cores) {
        CHECK(!plans[0].tensor_cores);
    }
}

// The convolutions of a training step, each different one once, with what is done to their results.
template <class Network>
std::vector<cudnn::convolution> convolutions_of(int samples) {
    using recipe = cn::detail::step_recipe<cn::cross_entropy_loss<0.0F>>;
    cn::graph g{true};
    cn::results const wanted = recipe::build<Network>(g);
    cn::graph_view const view{g.nodes.data(),   g.windows.data(),      g.parameters.data(),
                              g.updates.data(), wanted.outputs.data(), wanted.gradients.data(),
                              g.nodes.size(),   g.windows.size(),      g.parameters.size(),
                              g.updates.size(), wanted.outputs.size(), true};
    cn::list<int> groups = cn::fuse(view);
    cn::epilogue_finder<finishing>{view, groups}.run();
    cn::scheduler<finishing> scheduler{view, groups.data()};
    cn::step_schedule_draft const d = scheduler.run();
    std::vector<cudnn::convolution> all;
    for (cn::step const& s : d.steps) {
        if (s.kind == op::conv || s.kind == op::conv_data || s.kind == op::conv_weight) {
            cn::cuda::context<float> context;
            context.samples = samples;
            auto const c =
                cn::cuda::convolution_of(s, {nullptr, nullptr, g.windows.data()}, context);
            if (std::find(all.begin(), all.end(), c) == all.end()) {
                all.push_back(c);
            }
        }
    }
    return all;
}

template <class Network>
void all_have_plans(int samples, std::size_t different, std::size_t finished) {
    auto const all = convolutions_of<Network>(samples);
    CHECK(all.size() == different);
    std::size_t with_bias = 0;
    for (auto c : all) {
        with_bias += c.bias;
        has_plan(c);
        c.tensor_cores = true;
        has_plan(c);
        c.type = CUDNN_DATA_BFLOAT16;
        has_plan(c);
    }
    CHECK(with_bias == finished);
}

} // namespace

TEST_CASE("windows of every kind have plans in every arithmetic") {
    using cn::make_window, cn::same, cn::size2, cn::valid;
    cn::window const windows[] = {
        make_window(1, 28, 28, 32, 3, 1, valid, 1, 1),     // one channel
        make_window(13, 14, 14, 17, 3, 1, same, 1, 1),     // odd numbers of channels
        make_window(5, 9, 11, 7, {2, 3}, {3, 2}, 1, 1, 1), // nothing is square
        make_window(16, 32, 32, 32, 3, 2, same, 1, 1),     // padding on one side only
        make_window(16, 14, 14, 32, 3, 1, same, 2, 1),     // dilation
        make_window(16, 14, 14, 32, 3, 1, same, 1, 4),     // groups
        make_window(32, 14, 14, 32, 3, 2, same, 1, 32),    // a group for each channel
    };
    for (cn::window const& w : windows) {
        for (op const kind : {op::conv, op::conv_data, op::conv_weight}) {
            for (auto const& c : with_all_arithmetic({kind, w, 64})) {
                has_plan(c);
            }
        }
        for (auto c : with_all_arithmetic({op::conv, w, 64})) {
            c.bias = true;
            has_plan(c);
            c.relu = true;
            has_plan(c);
        }
    }
}

TEST_CASE("every convolution of the small networks has a plan") {
    all_have_plans<bench::convnet::network>(128, 8, 3);
    all_have_plans<bench::convnet::network>(512, 8, 3);
    all_have_plans<bench::dropout_cnn::network>(128, 5, 2);
}

TEST_CASE("every convolution of VGG16 has a plan") {
    all_have_plans<cn::zoo::vgg16>(64, 26, 9);
}

TEST_CASE("every convolution of ResNet-50 has a plan") {
    all_have_plans<cn::zoo::resnet50>(128, 68, 0);
}
