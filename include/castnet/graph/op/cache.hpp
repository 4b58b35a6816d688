// Cache of a sequence, kept from one run of a plan to the next, each of which adds a step: the keys
// or values of attention that is computed step by step (graph/one_step.hpp).
#pragma once

#include <castnet/graph/operation.hpp>

namespace castnet {

// Operands: a step (features), and its place in the sequence, a number for each sample. What lies
// after that place is left from earlier sequences, and not to be read. The attribute is the
// cache's number.
template <>
struct operation<op::cache> {
    static constexpr char const* name = "cache";
    static constexpr operation_traits traits{.reads_attribute = true, .stores_bf16 = false};
};

} // namespace castnet
