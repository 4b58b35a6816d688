// Mixture of a sample with another one of its data set.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/data/pixels.hpp>

#include <cstddef>

namespace castnet::data {

// Blend of a sample with a partner: numbers are blended with the partner's; where an image is cut,
// those of a rectangle are the partner's.
struct mixture {
    size_t partner;
    double share; // of the sample itself
    rectangle cut{};

    template <class T>
    CASTNET_HD T blend(T own, T other) const {
        return T(share) * own + T(1 - share) * other;
    }
};

} // namespace castnet::data
