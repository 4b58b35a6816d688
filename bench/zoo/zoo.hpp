// Networks of the zoo as the benchmarks train them: classes of images by cross-entropy.
#pragma once

#include "../training.hpp"

namespace bench {

inline constexpr auto images = cn::input<3, 96, 96>;

template <class Network, size_t Classes = 1000>
struct classifier {
    using network = Network;
    using dataset = cn::data::dataset<cn::data::label<Classes>,
                                      cn::detail::nth_of<0, typename Network::inputs>>;
    static constexpr auto loss = cn::cross_entropy;
};

} // namespace bench
