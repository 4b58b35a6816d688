// What cuDNN says of this GPU, for tests/data: tests without a GPU take a device from a file.
#include <castnet/device/cuda/cudnn/algorithms.hpp>
#include <castnet/device/cuda/stream.hpp>
#include <castnet/nn/window.hpp>

#include <doctest/doctest.h>
#include <fstream>

namespace cn = castnet;
namespace cudnn = castnet::cuda::cudnn;

TEST_CASE("cuDNN lists algorithms for this GPU and for its description") {
    cn::cuda::stream const stream;
    cudnn::target const here{stream.get()};
    std::string const text = here.description();
    std::ofstream{"gpu_description.json"} << text << '\n';
    cudnn::target const described{text};

    using cn::make_window, cn::op, cn::same, cn::valid;
    cn::ir::window const windows[] = {make_window(1, 28, 28, 32, 3, 1, valid, 1, 1),
                                      make_window(32, 13, 13, 64, 3, 1, valid, 1, 1),
                                      make_window(3, 224, 224, 64, 7, 2, 3, 1, 1),
                                      make_window(64, 56, 56, 256, 1, 1, same, 1, 1)};
    for (cn::ir::window const& w : windows) {
        for (op const kind : {op::conv, op::conv_data, op::conv_weight}) {
            cudnn::convolution const c{kind, w, 128};
            CAPTURE(cudnn::text_of(c));
            auto const list = [&](cudnn::target const& where) {
                return cudnn::algorithms_of(cudnn::graph_of(c, where), where,
                                            {false, std::int64_t{256} << 20});
            };
            auto const a = list(here), b = list(described);
            REQUIRE(a.size() == 1);
            REQUIRE(b.size() == 1);
            // cuDNN may know more of a GPU than the description says.
            WARN(a[0].number == b[0].number);
            WARN(a[0].workspace == b[0].workspace);
        }
    }
}
