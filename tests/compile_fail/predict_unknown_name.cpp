// Outputs have the names that the network gives them.
// expect: castnet: predict<"name">: the network has no output of this name
// expect: network_has_output_named<.*bos
#include <castnet/castnet.hpp>

#include <vector>

namespace cn = castnet;

struct detector {
    constexpr auto operator()(auto x) const {
        return cn::outputs<"kind", "box">(x | cn::dense<3>, x | cn::dense<4>);
    }
};
using net = cn::network<detector{}, cn::input<4>>;

std::vector<float> predict(cn::model<net, cn::policy::cpu, cn::batch<1>> const& model) {
    return model.predict<"bos">(std::vector<float>(4));
}
