// The element-wise function and the operation of docs/guide.md that a program adds to castnet's.
#pragma once

#include <castnet/castnet.hpp>

namespace cn = castnet;

// [own_function]
inline constexpr auto bell_number = cn::fn::own; // the next function: cn::fn(int(cn::fn::own) + 1)
template <>
struct cn::function<bell_number> : cn::derivative_reads<0b11> { // the input (bit 0), the value (1)
    static constexpr char const* name = "bell";
    template <class T>
    CASTNET_HD static constexpr T value(T x) {
        return cn::elementary::exp(-x * x);
    }
    template <int Input, class T>
    CASTNET_HD static constexpr T derivative(T x, T y) {
        return -2 * x * y;
    }
};
inline constexpr cn::elementwise<bell_number> bell{}; // of numbers, tensors and symbols; a layer

using bells = cn::sequential<cn::input<2>, cn::dense<16>, bell, cn::dense<3>>;
// [/own_function]

// [own_operation]
inline constexpr auto running_sum = cn::op::own;
inline constexpr auto running_sum_from_end = static_cast<cn::op>(int(cn::op::own) + 1);

template <>
struct cn::operation<running_sum_from_end> {
    static constexpr char const* name = "running_sum_from_end";
    static constexpr operation_traits traits{};
};
template <>
struct cn::operation<running_sum> {
    static constexpr char const* name = "running_sum";
    static constexpr operation_traits traits{};
    static constexpr void gradient(ir::differentiation& d, int node, int gradient) {
        int const x = d.at(node).in[0];
        d.accumulate(x, d.emit<running_sum_from_end>(x, -1, gradient)); // shaped as x
    }
};

template <class T, cn::op K>
    requires(K == running_sum || K == running_sum_from_end)
struct cn::cpu::kernel_for<T, K> {
    static constexpr kernel<T> of(kernel_launch const&, window const*) { return {&run}; }

    static void run(kernel_launch const& s, tables const& t, context<T> const& c) {
        array_ref const& from = t.arrays[s.first_array];
        int const channels = from.size.channels; // innermost in memory
        T const* x = c.at(from);
        T* y = c.at(t.arrays[s.output]);
        for (std::ptrdiff_t row = 0; row < c.samples * from.size.pixels; ++row) {
            T sum = 0;
            for (int k = 0; k < channels; ++k) {
                int const i = K == running_sum ? k : channels - 1 - k;
                y[i] = sum += x[i];
            }
            x += channels;
            y += channels;
        }
    }
};

struct running_sum_layer {
    static constexpr char const* name = "running_sum";
    template <class S>
    constexpr auto operator()(cn::symbol<S> x) const {
        return cn::apply_operation<running_sum, S>(x);
    }
};
using sums = cn::sequential<cn::input<2>, cn::dense<16>, running_sum_layer{}, bell, cn::dense<3>>;
// [/own_operation]
