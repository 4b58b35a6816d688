// Gradients of small dense weights in bfloat16 whose rows tensor cores cannot read, since they take
// eight numbers at a time: for example, those of ten classes. (cuBLASLt gives them to few blocks,
// those of 384 x 65 numbers to twelve, and takes 2.6 times as long.)
#pragma once

#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/reduce_body.hpp>
#include <castnet/device/cuda/step_values.hpp>
#include <castnet/device/cuda/stored.hpp>
#include <castnet/device/ir.hpp>
#include <castnet/device/quotient.hpp>
#include <castnet/device/reducer.hpp>

#include <type_traits>

namespace castnet::cuda {

// As a reduction (reduce_body.hpp): a result is a number of the weight, an element a row of x and
// dy. The gradient of the bias counts as one more row of the weight.
template <class T>
struct small_weight_source {
    static constexpr int results = 1, lanes = 1;
    static constexpr bool may_split = true, in_lanes = false;

    bfloat16 const *x, *dy;
    stored<T> weight, bias; // or none
    quotient units;
    std::uint32_t features;

    template <class F>
    CASTNET_HD void visit(std::uint32_t result, F const& f) const {
        std::uint32_t const feature = units.divide(result), unit = result - feature * units.divisor;
        bool const is_bias = feature == features;
        f(std::integral_constant<int, 4>{}, [&](std::uint32_t row, auto& parts) {
            T const factor = is_bias ? T(1) : T(x[row * features + feature]);
            parts[0].take(factor * T(dy[row * units.divisor + unit]), 0);
        });
    }
    template <class Reducers>
    CASTNET_HD void store(std::uint32_t result, Reducers const& sums) const {
        std::uint32_t const weights = features * units.divisor;
        if (result < weights) {
            weight.set(result, sums[0].result(T(1)));
        } else {
            bias.set(result - weights, sums[0].result(T(1)));
        }
    }
};

inline bool is_small_weight(kernel_launch const& s, tables const& t) {
    array_ref const &x = t.arrays[s.first_array], &dy = t.arrays[s.first_array + 1];
    return s.kind == op::matmul_weight && s.loop < 0 && x.is_bf16 && dy.is_bf16 &&
           (x.size.channels % 8 != 0 || dy.size.channels % 8 != 0) &&
           x.size.channels * dy.size.channels <= 32768;
}

template <class Context>
void small_weight(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    using source = small_weight_source<T>;
    using body = reduce_body<source, ir::reducer<reduction::sum, T>, T>;
    array_ref const &x = t.arrays[s.first_array], &dy = t.arrays[s.first_array + 1];
    auto const at = [&](array_ref const& r) { return reinterpret_cast<bfloat16*>(c.at(r)); };
    std::ptrdiff_t const features = x.size.channels, units = dy.size.channels,
                         results = (features + (s.end.bias_gradient ? 1 : 0)) * units;
    reduce_shape const shape = shape_reduction(results, c.samples * x.size.pixels, true,
                                               most_splits<source>(results, c.parts.elements));
    body const b{{at(x), at(dy), stored_at(c, t.arrays[s.output]),
                  s.end.bias_gradient ? stored_at(c, t.arrays[s.output + 1]) : stored<T>{},
                  quotient(units), static_cast<std::uint32_t>(features)},
                 shape,
                 quotient(shape.groups()),
                 T(1),
                 {},
                 c.parts};
    c.launch({shape.groups() * shape.splits, block_threads, body::shared_bytes}, b);
}

} // namespace castnet::cuda
