// Widening of the gradients of weights from bfloat16, on devices whose convolutions write no others
// (plan/mixed_precision.hpp). Several of them are one launch (plan/join.hpp).
#pragma once

#include <castnet/graph/operation.hpp>

namespace castnet {

template <>
struct operation<op::widen> {
    static constexpr char const* name = "widen";
    static constexpr operation_traits traits{.stores_bf16 = false};
};

} // namespace castnet
