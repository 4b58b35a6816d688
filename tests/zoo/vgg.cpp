// VGG-16 has torchvision's parameters: names, shapes and order.
#include <castnet/zoo/vgg.hpp>

#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace cn = castnet;

static_assert(cn::zoo::vgg16::parameter_count == 138'357'544);
static_assert(std::is_same_v<decltype(cn::zoo::vgg16::trace(std::declval<cn::ir::graph&>())),
                             cn::output_list<cn::shape<1000>>>);

TEST_CASE("names and shapes are those of torchvision's vgg16") {
    struct layer {
        std::string name;
        std::vector<int> weight;
    };
    std::vector<layer> expected;
    int const positions[] = {0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28};
    int const filters[] = {64, 64, 128, 128, 256, 256, 256, 512, 512, 512, 512, 512, 512};
    int channels = 3;
    for (int i = 0; i < 13; ++i) {
        expected.push_back(
            {"features." + std::to_string(positions[i]), {filters[i], channels, 3, 3}});
        channels = filters[i];
    }
    expected.push_back({"classifier.0", {4096, 512 * 7 * 7}});
    expected.push_back({"classifier.3", {4096, 4096}});
    expected.push_back({"classifier.6", {1000, 4096}});

    cn::ir::graph g{true};
    cn::zoo::vgg16::trace(g);
    REQUIRE(g.parameters.size() == 2 * static_cast<int>(expected.size()));
    for (int i = 0; i < g.parameters.size(); ++i) {
        cn::parameter const& p = g.parameters[i];
        layer const& of = expected[static_cast<std::size_t>(i / 2)];
        bool const weight = i % 2 == 0;
        CHECK(p.name.text() == of.name + (weight ? ".weight" : ".bias"));
        CHECK(std::vector<int>(p.shape.begin(), p.shape.end()) ==
              (weight ? of.weight : std::vector<int>{of.weight[0]}));
    }
}
