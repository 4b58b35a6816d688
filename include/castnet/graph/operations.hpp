// All operations, by number.
#pragma once

#include <castnet/graph/op/attention.hpp>
#include <castnet/graph/op/batch_matmul.hpp>
#include <castnet/graph/op/cache.hpp>
#include <castnet/graph/op/convert.hpp>
#include <castnet/graph/op/cumulative_sum.hpp>
#include <castnet/graph/op/map.hpp>
#include <castnet/graph/op/parameter_slice.hpp>
#include <castnet/graph/op/pool.hpp>
#include <castnet/graph/op/product.hpp>
#include <castnet/graph/op/rearrange.hpp>
#include <castnet/graph/op/recurrence.hpp>
#include <castnet/graph/op/reduce.hpp>
#include <castnet/graph/op/repeat.hpp>
#include <castnet/graph/op/rows.hpp>
#include <castnet/graph/op/source.hpp>
#include <castnet/graph/op/transpose.hpp>
#include <castnet/graph/op/unfold.hpp>
#include <castnet/graph/op/weight_values.hpp>

#include <utility>

namespace castnet::ir {

struct operation_entries {
    operation_entry entry[static_cast<size_t>(op::count)];
};

template <size_t... K>
constexpr operation_entries all_operations(std::index_sequence<K...>) {
    return {{operation_entry_of<static_cast<op>(K)>...}};
}

inline constexpr operation_entries operation_table =
    all_operations(std::make_index_sequence<static_cast<size_t>(op::count)>{});

constexpr operation_entry const& operation_of(node const& n) {
    return n.kind < op::count ? operation_table.entry[static_cast<size_t>(n.kind)] : *n.own;
}
constexpr operation_traits const& traits_of(node const& n) {
    return operation_of(n).is;
}
// Of one of castnet's own operations.
constexpr operation_entry const& operation_of(op kind) {
    return operation_table.entry[static_cast<size_t>(kind)];
}

} // namespace castnet::ir
