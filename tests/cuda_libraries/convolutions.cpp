// Every convolution of the example networks, as cuDNN would run it on an H200. No GPU is needed:
// cuDNN plans for the device that a file describes.
#include <castnet/device/cuda/conv.hpp>
#include <castnet/nn/window.hpp>
#include <castnet/train/compiled_step.hpp>
#include <castnet/zoo/resnet.hpp>
#include <castnet/zoo/vgg.hpp>

#include "../../bench/networks.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
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
    static constexpr cn::ir::scratch_size
    scratch(cn::ir::kernel_launch const&, cn::ir::window const*, cn::ir::instruction const&) {
        return {};
    }
    static constexpr bool takes_epilogue(op product, cn::ir::epilogue const& e) {
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

void has_algorithm(cudnn::convolution const& c) {
    std::int64_t const workspace = cudnn::workspace_limit(c);
    CAPTURE(cudnn::text_of(c));
    CAPTURE(c.type);
    CAPTURE(c.tensor_cores);
    auto const algorithms =
        cudnn::algorithms_of(cudnn::graph_of(c, h200()), h200(), {c.tensor_cores, workspace});
    REQUIRE(algorithms.size() == 1);
    CHECK(algorithms[0].workspace <= workspace);
    if (!c.tensor_cores) {
        CHECK(!algorithms[0].tensor_cores);
    }
}

std::vector<cudnn::algorithm> algorithms(cudnn::convolution const& c, std::size_t count,
                                         std::optional<int> number = std::nullopt) {
    return cudnn::algorithms_of(cudnn::graph_of(c, h200()), h200(),
                                {c.tensor_cores, most_workspace, count, number});
}

bool has_tensor_cores(std::vector<cudnn::algorithm> const& all) {
    return std::any_of(all.begin(), all.end(), [](auto const& p) { return p.tensor_cores; });
}

// The convolutions of a training step, each different one once, with what is done to their results.
template <class Network>
std::vector<cudnn::convolution> convolutions_of(int samples) {
    using recipe = cn::detail::step_recipe<cn::cross_entropy_loss<0.0F>>;
    cn::ir::graph g{true};
    cn::ir::results wanted = recipe::build<Network>(g);
    cn::ir::differentiate(g, wanted);
    cn::ir::graph_view const view{g.nodes.data(),          g.windows.data(),
                                  g.parameters.data(),     g.updates.data(),
                                  g.repeats.data(),        wanted.outputs.data(),
                                  wanted.gradients.data(), g.nodes.size(),
                                  g.windows.size(),        g.parameters.size(),
                                  g.updates.size(),        g.repeats.size(),
                                  wanted.outputs.size(),   true};
    cn::ir::list<int> groups = cn::ir::fuse(view);
    cn::ir::epilogue_finder<finishing>{view, groups}.run();
    cn::ir::launch_list_builder<finishing> launch_list_builder{view, {groups.data()}};
    cn::ir::launch_list_draft const d = launch_list_builder.run();
    std::vector<cudnn::convolution> all;
    for (cn::ir::kernel_launch const& s : d.launches) {
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
void all_have_algorithms(int samples, std::size_t different, std::size_t finished) {
    auto const all = convolutions_of<Network>(samples);
    CHECK(all.size() == different);
    std::size_t with_bias = 0;
    for (auto c : all) {
        with_bias += c.bias;
        has_algorithm(c);
        c.tensor_cores = true;
        has_algorithm(c);
        c.type = CUDNN_DATA_BFLOAT16;
        has_algorithm(c);
    }
    CHECK(with_bias == finished);
}

} // namespace

TEST_CASE("windows of every kind have algorithms in every arithmetic") {
    using cn::make_window, cn::same, cn::size2, cn::valid;
    cn::ir::window const windows[] = {
        make_window(1, 28, 28, 32, 3, 1, valid, 1, 1),        // one channel
        make_window(13, 14, 14, 17, 3, 1, same, 1, 1),        // odd numbers of channels
        make_window(5, 9, 11, 7, {2, 3}, {3, 2}, 1, 1, 1),    // nothing is square
        make_window(16, 32, 32, 32, 3, 2, same, 1, 1),        // padding on one side only
        make_window(16, 14, 14, 32, 3, 1, same, 2, 1),        // dilation
        make_window(16, 14, 14, 32, 3, 1, same, {1, 3}, 1),   // another one across than down
        make_window(16, 8, 196, 32, {3, 1}, 1, {1, 0}, 1, 1), // columns of a volume
        make_window(16, 14, 14, 32, 3, 1, same, 1, 4),        // groups
        make_window(32, 14, 14, 32, 3, 2, same, 1, 32),       // a group for each channel
    };
    for (cn::ir::window const& w : windows) {
        for (op const kind : {op::conv, op::conv_data, op::conv_weight}) {
            for (auto const& c : with_all_arithmetic({kind, w, 64})) {
                has_algorithm(c);
            }
        }
        for (auto c : with_all_arithmetic({op::conv, w, 64})) {
            c.bias = true;
            has_algorithm(c);
            c.relu = true;
            has_algorithm(c);
        }
    }
}

TEST_CASE("an algorithm is found again by its number") {
    cudnn::convolution c{op::conv, cn::make_window(64, 56, 56, 64, 3, 1, cn::same, 1, 1), 32};
    for (bool const bias : {false, true}) {
        c.bias = c.relu = bias;
        auto const all = algorithms(c, 8);
        CHECK(all.size() > 1);
        CHECK(all.size() <= 8);
        for (cudnn::algorithm const& p : all) {
            auto const again = algorithms(c, 1, p.number);
            REQUIRE(again.size() == 1);
            CHECK(again[0].number == p.number);
            CHECK(again[0].engine == p.engine);
            CHECK(again[0].workspace == p.workspace);
        }
        CHECK(algorithms(c, 8, 100'000).empty());
    }
}

// So castnet pads no channels (docs/architecture.md).
TEST_CASE(
    "any number of channels and filters has algorithms by tensor cores among the timed ones") {
    using cn::make_window, cn::same, cn::valid;
    cn::ir::window const windows[] = {make_window(1, 28, 28, 32, 3, 1, valid, 1, 1),
                                      make_window(2, 28, 28, 32, 3, 1, valid, 1, 1),
                                      make_window(3, 32, 32, 64, 3, 1, same, 1, 1),
                                      make_window(3, 224, 224, 64, 3, 1, same, 1, 1),
                                      make_window(3, 224, 224, 64, 7, 2, same, 1, 1),
                                      make_window(13, 14, 14, 17, 3, 1, same, 1, 1)};
    for (cn::ir::window const& w : windows) {
        bool const is_stem = w.kernel_h == 7; // see below
        for (auto const type : {CUDNN_DATA_FLOAT, CUDNN_DATA_BFLOAT16}) {
            cudnn::convolution c{op::conv, w, 64, type, true};
            CAPTURE(cudnn::text_of(c));
            CHECK(has_tensor_cores(algorithms(c, cn::cuda::timed_algorithms)));
            c.bias = c.relu = true;
            CHECK(has_tensor_cores(algorithms(c, cn::cuda::timed_algorithms)));
            c = {op::conv_data, w, 64, type, true};
            CHECK(has_tensor_cores(algorithms(c, cn::cuda::timed_algorithms)));
            c.kind = op::conv_weight;
            c.samples = is_stem ? 128 : 64;
            CHECK(has_tensor_cores(algorithms(c, cn::cuda::timed_algorithms)) ==
                  !(is_stem && type == CUDNN_DATA_FLOAT));
        }
    }
}

TEST_CASE("cuDNN pads three channels to eight in its workspace where that buys tensor cores") {
    auto const workspace = [](int channels) {
        cn::ir::window const w = cn::make_window(channels, 224, 224, 64, 3, 1, cn::same, 1, 1);
        auto const all = algorithms({op::conv, w, 64, CUDNN_DATA_BFLOAT16, true}, 1);
        REQUIRE(all.size() == 1);
        CHECK(all[0].tensor_cores);
        return all[0].workspace;
    };
    // 64 images and 64 filters with 8 channels of 2 bytes
    std::int64_t const padded = (std::int64_t{64} * 224 * 224 + std::int64_t{64} * 3 * 3) * 8 * 2;
    CHECK(workspace(3) >= padded);
    CHECK(workspace(3) < padded + 4096);
    CHECK(workspace(8) < 4096);
}

TEST_CASE("large images of full precision are transposed in a workspace, those for tensor cores "
          "are not") {
    cudnn::convolution c{op::conv, cn::make_window(64, 224, 224, 64, 3, 1, 1, 1, 1), 64};
    std::int64_t const images = std::int64_t{2} * 64 * 64 * 224 * 224 * 4;
    for (op const kind : {op::conv, op::conv_data}) {
        c.kind = kind;
        auto const found = cudnn::algorithms_of(cudnn::graph_of(c, h200()), h200(),
                                                {false, cudnn::workspace_limit(c)});
        REQUIRE(found.size() == 1);
        CHECK(found[0].workspace >= images);
        CHECK(found[0].number < algorithms(c, 1).front().number); // cuDNN expects it to be faster
    }
    c.tensor_cores = true;
    CHECK(cudnn::workspace_limit(c) == most_workspace);
}

// Where tensor cores get no algorithm, more channels would not help.
TEST_CASE("the weights of a large first layer want as much workspace with 3 channels as with 8") {
    for (int const channels : {3, 4, 8}) {
        cn::ir::window const w = cn::make_window(channels, 224, 224, 64, 7, 2, cn::same, 1, 1);
        cudnn::convolution const c{op::conv_weight, w, 128, CUDNN_DATA_FLOAT, true};
        CHECK_FALSE(has_tensor_cores(algorithms(c, 100)));
        auto const larger =
            cudnn::algorithms_of(cudnn::graph_of(c, h200()), h200(), {true, 4 * most_workspace});
        REQUIRE(larger.size() == 1);
        CHECK(larger[0].tensor_cores);
    }
}

TEST_CASE("different convolutions are different texts") {
    cudnn::convolution const c{op::conv, cn::make_window(8, 9, 9, 16, 3, 1, cn::same, 1, 1), 32};
    std::vector<cudnn::convolution> all(4, c);
    all[1].kind = op::conv_data;
    all[2].kind = op::conv_weight;
    all[3].samples = 33;
    for (int cn::ir::window::* const member :
         {&cn::ir::window::channels, &cn::ir::window::height, &cn::ir::window::width,
          &cn::ir::window::filters, &cn::ir::window::kernel_h, &cn::ir::window::kernel_w,
          &cn::ir::window::stride_h, &cn::ir::window::stride_w, &cn::ir::window::pad_top,
          &cn::ir::window::pad_left, &cn::ir::window::pad_bottom, &cn::ir::window::pad_right,
          &cn::ir::window::dilation_h, &cn::ir::window::dilation_w, &cn::ir::window::groups}) {
        ++(all.emplace_back(c).geometry.*member);
    }
    for (auto const& other : with_all_arithmetic(c)) {
        all.push_back(other); // the first is c again
    }
    for (bool cudnn::convolution::* const member :
         {&cudnn::convolution::bias, &cudnn::convolution::relu}) {
        all.emplace_back(c).*member = true;
    }
    std::set<std::string> texts;
    for (auto const& one : all) {
        texts.insert(cudnn::text_of(one));
    }
    CHECK(texts.size() == all.size() - 1);
}

TEST_CASE("every convolution of the small networks has an algorithm") {
    all_have_algorithms<bench::convnet::network>(128, 8, 3);
    all_have_algorithms<bench::convnet::network>(512, 8, 3);
    all_have_algorithms<bench::dropout_cnn::network>(128, 5, 2);
}

TEST_CASE("every convolution of VGG16 has an algorithm") {
    all_have_algorithms<cn::zoo::vgg16>(64, 26, 9);
}

TEST_CASE("every convolution of ResNet-50 has an algorithm") {
    all_have_algorithms<cn::zoo::resnet50>(128, 68, 0);
}
