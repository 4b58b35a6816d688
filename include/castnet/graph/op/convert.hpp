// Conversion of arrays from bfloat16, or to it (plan/mixed_precision.hpp): gradients of weights, of
// devices whose convolutions write no others, and inputs that products read. Several of them are
// one launch (plan/join.hpp).
#pragma once

#include <castnet/graph/operation.hpp>

namespace castnet {

template <>
struct operation<op::convert> {
    static constexpr char const* name = "convert";
    static constexpr operation_traits traits{};
};

} // namespace castnet
