// A layer of one's own may be for other shapes.
// expect: castnet: what stands at this position cannot be called with the result of the layer before it
// expect: layer_takes<.*for_vectors, .*shape<1, ?8, ?8>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct for_vectors {
    template <std::size_t N>
    constexpr auto operator()(cn::symbol<cn::shape<N>> x) const {
        return x * 2;
    }
};
using net = cn::sequential<cn::input<1, 8, 8>, for_vectors{}, cn::flatten, cn::dense<4>>;

auto count = net::parameter_count;
