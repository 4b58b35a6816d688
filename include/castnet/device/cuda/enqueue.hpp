// Launch of a step's kernels on a context's stream: the launches of a plan, the norm of the
// gradient, the update of the parameters, and the sums of the plan's outputs over steps.
#pragma once

#include <castnet/device/cuda/beside.hpp>
#include <castnet/device/cuda/gather.hpp>
#include <castnet/device/cuda/loop_kernel.hpp>
#include <castnet/device/cuda/norm.hpp>
#include <castnet/device/cuda/one_block.hpp>
#include <castnet/device/cuda/optimize.hpp>
#include <castnet/device/cuda/optimize_parameter.hpp>
#include <castnet/device/cuda/orthogonalize.hpp>
#include <castnet/device/cuda/planning.hpp>

#include <cstddef>
#include <span>
#include <tuple>
#include <utility>

namespace castnet::cuda {

// The update of the parameters from `first` on; only these have slots, `slot_stride` apart.
template <auto const& Plan, int Slots, class Rule, class Context>
auto update_call(Context const& c, update_values<Rule, typename Context::value_type> const* values,
                 penalized_range const* ranges, std::ptrdiff_t first, std::ptrdiff_t last,
                 std::ptrdiff_t slot_stride) {
    using T = typename Context::value_type;
    T* const gradients = c.region[int(region::gradients)];
    std::ptrdiff_t const groups = (last - first) / lanes_of<T>;
    using body = optimize_body<Rule, Slots, T>;
    return kernel_call<body>{grid_for(groups),
                             {values,
                              ranges,
                              c.region[int(region::parameters)],
                              {gradients},
                              gradients + Plan.trainable,
                              slot_stride,
                              groups,
                              first}};
}
// The update of all parameters.
template <auto const& Plan, int Slots, class Rule, class Context>
auto update_call(Context const& c, update_values<Rule, typename Context::value_type> const* values,
                 penalized_range const* ranges) {
    return update_call<Plan, Slots>(c, values, ranges, 0, Plan.trainable, Plan.trainable);
}

// The update that widens gradients (planning.hpp).
template <auto const& Plan, int Slots, class Rule, class Context>
auto widening_update_call(Context const& c,
                          update_values<Rule, typename Context::value_type> const* values,
                          penalized_range const* ranges) {
    using T = typename Context::value_type;
    constexpr int last = Plan.sizes.launches - 1;
    kernel_launch const& s = Plan.launch(last);
    auto const plain = update_call<Plan, Slots>(c, values, ranges);
    widened_gradients<T> gradients{c.region[int(region::gradients)], {}, s.arrays};
    for (int k = 0; k < s.arrays; ++k) {
        array_ref const& to = Plan.array(s.output + k);
        gradients.ranges[k] = {
            reinterpret_cast<bfloat16 const*>(c.at(Plan.arrays[s.first_array + k])), to.offset,
            to.offset + to.size.count()};
    }
    using body = optimize_body<Rule, Slots, T, widened_gradients<T>>;
    return kernel_call<body>{plain.where,
                             {values, ranges, plain.body.parameters, gradients, plain.body.slots,
                              plain.body.stride, plain.body.count}};
}

// The sum of the squares of the gradients of parameters [first, last), to squares[0]; by blocks
// whose number depends on the plan only, and one within the kernel of a plan that fits one block.
template <class Device, auto const& Plan, class Context>
auto squares_call(Context const& c, typename Context::value_type const* scale,
                  penalized_range const* ranges, double* squares, std::ptrdiff_t first,
                  std::ptrdiff_t last) {
    using T = typename Context::value_type;
    reduce_shape const shape =
        shape_reduction(1, (last - first) / lanes_of<T>, false,
                        Device::template in_one_block<Plan> ? 1 : reduction_blocks);
    square_source<T> const from{scale, ranges, c.region[int(region::parameters)],
                                c.region[int(region::gradients)], first};
    using body = square_sum<T>;
    return kernel_call<body>{
        {shape.splits, block_threads, body::shared_bytes},
        {from, shape, quotient(1), 1.0, {squares}, {squares + 1, c.parts.tickets}}};
}
// Sets the norm of the rule from the sum of squares, of so many parts.
template <class Rule, class T>
auto norm_call(update_values<Rule, T>* values, double const* squares, int parts = 1) {
    return kernel_call<norm_body<Rule, T>>{{1, 1}, {values, squares, parts}};
}

// Tables of an update's kernels in the GPU's memory, besides its values. All but the first two
// are for rules of whole parameters; the last, of the host, says how directions become orthogonal.
struct update_tables {
    penalized_range const* penalties;
    double* squares; // for the norm of the gradient, if the rule needs it
    parameter_piece const* pieces = nullptr;
    double* squares_of_pieces = nullptr;
    std::span<orthogonalization const> orthogonal{}; // of each parameter
};

// The kernels of the update of all parameters by a rule that knows the norm, as a tuple.
template <auto const& Plan, int Slots, class Rule, class Context>
auto update_calls(Context const& c, update_values<Rule, typename Context::value_type>* values,
                  update_tables const& t) {
    if constexpr (ByParameter<Rule>) {
        return piecewise_calls<Plan, Slots>(c, values, t.pieces, t.squares_of_pieces);
    } else {
        return std::tuple{update_call<Plan, Slots>(c, values, t.penalties)};
    }
}
// Enqueues this update; with products before its last kernel, if the rule makes directions
// orthogonal.
template <auto const& Plan, int Slots, class Rule, class Context>
void enqueue_update(Context const& c, update_values<Rule, typename Context::value_type>* values,
                    update_tables const& t) {
    auto const launch = [&](auto const& call) { c.launch(call.where, call.body); };
    auto const calls = update_calls<Plan, Slots>(c, values, t);
    constexpr std::size_t last = std::tuple_size_v<decltype(calls)> - 1;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (..., launch(std::get<I>(calls)));
    }(std::make_index_sequence<last>{});
    if constexpr (Orthogonalizes<Rule>) {
        constexpr auto pieces = count_pieces<typename Context::value_type>(Plan);
        orthogonalize_all(Plan, t.orthogonal, t.squares_of_pieces + 2 * pieces, c);
    }
    launch(std::get<last>(calls));
}

template <auto const& Plan, class Context>
auto totals_call(Context const& c, double* totals) {
    static_assert(Plan.sizes.outputs <= max_results,
                  "castnet: policy::cuda sums the loss and at most 31 metrics");
    add_totals_body<typename Context::value_type> body{{}, {}, totals, 0};
    for (int i = 0; i < Plan.sizes.outputs; ++i) {
        body.results[i] = c.at(Plan.outputs[i]);
        body.count += Plan.outputs[i].size.count();
        body.end[i] = body.count;
    }
    return kernel_call<decltype(body)>{grid_for(body.count), body};
}

// The end of a training step: the sums of the plan's outputs, the norm, if the rule needs it,
// and the update. An update by whole parameters may use the workspace, and so comes after the
// sums; one that needs products is not among these kernels, and follows (enqueue_update).
template <class Device, auto const& Plan, int Slots, class Rule, class Context>
auto closing_calls(Context const& c, update_values<Rule, typename Context::value_type>* values,
                   update_tables const& t, double* totals) {
    auto const norm = [&] {
        if constexpr (NeedsNorm<Rule>) {
            return std::tuple{squares_call<Device, Plan>(c, &values->scale, t.penalties, t.squares,
                                                         0, Plan.trainable),
                              norm_call(values, t.squares)};
        } else {
            return std::tuple{};
        }
    }();
    auto const sums = totals_call<Plan>(c, totals);
    if constexpr (Orthogonalizes<Rule>) {
        return std::tuple_cat(std::tuple{sums}, norm);
    } else if constexpr (ByParameter<Rule>) {
        return std::tuple_cat(std::tuple{sums}, norm, update_calls<Plan, Slots>(c, values, t));
    } else if constexpr (widens_in_update<Rule>(Plan)) {
        auto const update = widening_update_call<Plan, Slots>(c, values, t.penalties);
        return std::tuple{beside(update, sums)};
    } else {
        auto const update = update_call<Plan, Slots>(c, values, t.penalties);
        return std::tuple_cat(norm, std::tuple{beside(update, sums)});
    }
}

// Whether a step that is one kernel gets its inputs, so many bytes, as arguments of the kernel.
template <class Device, auto const& Plan>
constexpr bool takes_arguments(std::size_t bytes) {
    if constexpr (Device::template in_one_block<Plan>) {
        constexpr std::size_t others = 4096; // those of the gathering, the update and the totals
        return bytes + own_argument_bytes<Plan>() + others <= argument_bytes;
    } else {
        return false;
    }
}

// Enqueues the gathering of a step's samples, if they are gathered, all launches of a plan but for
// so many of the last, and the given kernels after them; as one kernel if the plan fits one block.
template <class Device, auto const& Plan, int LeftOut = 0, class Gather, class... Body>
void enqueue(typename Device::context const& c, bool gathers, kernel_call<Gather> const& gather,
             kernel_call<Body> const&... then) {
    if constexpr (Device::template in_one_block<Plan>) {
        launch_one_block<Plan>(c, gather.body, then.body...);
    } else {
        if (gathers) {
            c.launch(gather.where, gather.body);
        }
        for_each_stage(Plan, [&](stage const& g, int repetition, int) {
            if (g.first < Plan.sizes.launches - LeftOut) {
                enqueue_stage<Device, Plan>(g, repetition, c, ignore_launches{});
            }
        });
        (..., c.launch(then.where, then.body));
    }
}

} // namespace castnet::cuda
