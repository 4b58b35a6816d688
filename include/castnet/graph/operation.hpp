// Operations of a graph: what differentiation and the planner know of each.
//
// operation<K> holds
//
//   static constexpr char const* name;                  what reports call it
//   static constexpr operation_traits traits{…};        how the planner treats it
//   static constexpr void gradient(ir::differentiation&, int node, int gradient);
//                                                       where it has one: appends the nodes of the
//                                                       operands' gradients
//                                                       (graph/differentiation.hpp)
//   static constexpr std::ptrdiff_t flops(ir::node const&, ir::graph_view const&);
//                                                       for one sample; 0 where it is not there
//
// castnet's own are in graph/op/, each beside the functions of symbols that emit it. Numbers from
// op::own on are for operations of other programs, each for one operation in a whole program:
// specialise operation<K> and, for each device, cpu::kernel_for<T, K> (device/cpu/kernel.hpp) or
// cuda::kernel_for<Context, K> (device/cuda/kernel_for.hpp), and emit it by apply_operation
// (graph/emit.hpp).
#pragma once

#include <castnet/graph/node.hpp>

namespace castnet {

// Which operations a node is one of.
struct operation_traits {
    bool source = false; // its value comes from outside the step, or from the kernel that reads it
    bool everywhere = false; // a source that all devices have
    bool product = false;  // multiplies its first two operands, which devices may want in bfloat16
    bool image = false;    // a product of images, whose result is stored as its factors are
    bool windowed = false; // its attribute is a window
    bool reads_attribute = false; // its kernel does (kernel_launch::attribute)
    bool stores_bf16 = true;      // its kernels can store bfloat16
    bool beside = false;          // a second result of the kernel of its operand
    bool by_pixels = false;       // each pixel for itself (a reduction: if it keeps them)
    bool recurrent = false;       // has a part in differentiation even where no gradient arrives
};

template <op K>
struct operation;

namespace ir {

class differentiation;
struct graph_view;

struct operation_entry {
    char const* name = "";
    operation_traits is{};
    void (*gradient)(differentiation&, int, int) = nullptr;
    std::ptrdiff_t (*flops)(node const&, graph_view const&) = nullptr;
    // Whether there are such functions: GCC 12 with sanitizers compares no addresses in constants.
    bool has_gradient = false, has_flops = false;
};

template <op K>
constexpr operation_entry make_operation_entry() {
    operation_entry e{operation<K>::name, operation<K>::traits};
    if constexpr (requires { operation<K>::gradient; }) {
        e.gradient = operation<K>::gradient;
        e.has_gradient = true;
    }
    if constexpr (requires { operation<K>::flops; }) {
        e.flops = operation<K>::flops;
        e.has_flops = true;
    }
    return e;
}

template <op K>
inline constexpr operation_entry operation_entry_of = make_operation_entry<K>();

// The entry that a node has to bring along; those of most of castnet's own are in a table.
template <op K>
constexpr operation_entry const* own_operation() {
    if constexpr (K < op::count) {
        return nullptr;
    } else {
        return &operation_entry_of<K>;
    }
}

} // namespace ir
} // namespace castnet
