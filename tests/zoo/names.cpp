// Networks of the zoo have the parameters of torchvision's and timm's: names, shapes, numbers.
#include <castnet/zoo/autoencoder.hpp>
#include <castnet/zoo/densenet.hpp>
#include <castnet/zoo/efficientnet.hpp>
#include <castnet/zoo/inception_v3.hpp>
#include <castnet/zoo/mixer.hpp>
#include <castnet/zoo/mobilenet_v2.hpp>
#include <castnet/zoo/resnet.hpp>
#include <castnet/zoo/unet.hpp>
#include <castnet/zoo/vgg.hpp>
#include <castnet/zoo/xception.hpp>

#include "golden.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace zoo = castnet::zoo;
using castnet::input;

static_assert(zoo::vgg16::parameter_count == 138'357'544);

namespace {

struct tensors {
    std::size_t count = 0, parameters = 0;
    std::uint64_t digest = 0xcbf29ce484222325; // of lines of names and shapes
};

template <class Network>
tensors tensors_of() {
    castnet::ir::graph g{true};
    Network::trace(g);
    tensors found;
    std::vector<std::string> lines;
    for (castnet::parameter const& p : g.parameters) {
        found.parameters += p.kind == castnet::role::statistic ? 0 : std::size_t(p.count());
        std::string line = p.name.text();
        for (int const extent : p.shape) {
            line += ' ' + std::to_string(extent);
        }
        lines.push_back(line + '\n');
    }
    std::sort(lines.begin(), lines.end());
    found.count = lines.size();
    for (std::string const& line : lines) {
        for (char const c : line) {
            found.digest = (found.digest ^ static_cast<unsigned char>(c)) * 0x100000001b3;
        }
    }
    return found;
}

template <class Network>
void same(std::string const& name, std::size_t parameters) {
    CAPTURE(name);
    tensors const found = tensors_of<Network>();
    CHECK(found.parameters == parameters);
    for (zoo_golden::network const& expected : zoo_golden::networks) {
        if (expected.name == name) {
            CHECK(found.count == std::size_t(expected.tensors));
            CHECK(found.digest == expected.digest);
            return;
        }
    }
    FAIL("no such network in golden.hpp: " << name);
}

} // namespace

TEST_CASE("names and shapes are those of torchvision and timm") {
    same<zoo::resnet18>("resnet18", 11'689'512);
    same<zoo::resnet50>("resnet50", 25'557'032);
    CHECK(tensors_of<zoo::resnet18_cifar>().parameters == 11'173'962);
    same<zoo::vgg19>("vgg19", 143'667'240);
    same<zoo::mobilenet_v2>("mobilenet_v2", 3'504'872);
    same<zoo::efficientnet_b0>("efficientnet_b0", 5'288'548);
    same<zoo::densenet121>("densenet121", 7'978'856);
    same<zoo::inception_v3>("inception_v3", 23'834'568);
    same<zoo::xception>("xception", 22'855'952);
    same<zoo::mixer_b16>("mixer_b16", 59'880'472);
    same<zoo::unet<input<3, 64, 64>, 1>>("unet", 31'037'633);
    same<zoo::autoencoder>("autoencoder", 4'385);
}
