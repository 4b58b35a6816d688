// Networks so small that starting a kernel costs more than running it: a whole step is one kernel
// of one block, compiled for this plan. What lies between its layers never leaves the
// multiprocessor.
#pragma once

#include <castnet/device/constant_launch.hpp>
#include <castnet/device/cuda/block_product.hpp>
#include <castnet/device/cuda/kernels.hpp>
#include <castnet/device/cuda/tuning.hpp>
#include <castnet/device/cuda/warp.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

namespace castnet::cuda {

// Parts of the block's shared memory, one after the other: the kernels' own, the trained
// parameters, and the plan's workspace; in elements.
struct one_block_memory {
    std::ptrdiff_t scratch = 0, trained = 0, workspace = 0;

    constexpr std::ptrdiff_t all() const { return scratch + trained + workspace; }
};

template <class T, class Plan>
constexpr one_block_memory memory_in_one_block(Plan const& p) {
    std::ptrdiff_t scratch = 0;
    for (int i = 0; i < Plan::sizes.launches; ++i) {
        kernel_launch const& s = p.launch(i);
        // a reduction to one array has at most 16 bytes for each thread; by rows, the result, too
        std::ptrdiff_t const arrays = s.kind == op::reduce ? s.results : 1,
                             parts = (16 / std::ptrdiff_t{sizeof(T)} + int(s.phases > 1)) *
                                     block_threads * arrays;
        scratch = parts > scratch ? parts : scratch;
        if (is_matmul(s.kind)) {
            std::ptrdiff_t const wanted =
                tiling_of(block_product_of(s, p.arrays, p.batch)).scratch();
            scratch = wanted > scratch ? wanted : scratch;
        }
    }
    constexpr auto unit = static_cast<std::ptrdiff_t>(alignment_bytes / sizeof(T));
    return {aligned(scratch, unit), p.trainable, p.elements(region::workspace)};
}

// The one place that decides which plans these are.
template <class T, class Plan>
constexpr bool fits_one_block(Plan const& p) {
    constexpr std::ptrdiff_t capacity = one_block_bytes / std::ptrdiff_t{sizeof(T)};
    if (Plan::sizes.launches == 0 || p.trainable + p.elements(region::workspace) > capacity ||
        p.flops() * p.batch > one_block_flops) {
        return false;
    }
    for (int i = 0; i < Plan::sizes.launches; ++i) {
        kernel_launch const& s = p.launch(i);
        // (attention's tiles fill a block's shared memory)
        if (is_conv(s.kind) || s.kind == op::attention || s.loop >= 0 || s.repeat >= 0) {
            return false;
        }
    }
    return memory_in_one_block<T>(p).all() <= capacity;
}

// A block of block_threads threads that does the work of several, one after the other.
template <class Block>
struct block_in_turn {
    static constexpr bool has_all_threads = false;
    Block const& block;
    unsigned number = 0, count = 1;

    CASTNET_HD unsigned thread() const { return block.thread(); }
    CASTNET_HD unsigned threads() const { return block_threads; }
    CASTNET_HD unsigned index() const { return number; }
    CASTNET_HD unsigned blocks() const { return count; }
    CASTNET_HD void sync() const { block.sync(); }
    CASTNET_HD bool is_last(unsigned*, unsigned) const { return true; } // of one
    template <class T>
    CASTNET_HD T* shared() const {
        return block.template shared<T>();
    }
};

template <class Block>
CASTNET_HD std::uint32_t ballot(block_in_turn<Block> const& block, bool x) {
    return ballot(block.block, x);
}

// Runs a body whose grid would be this. (Without shared memory, bodies do all of their work in any
// number of blocks.) Other threads may not have ended it when it returns.
template <class Block, class Body>
CASTNET_HD void run_in_turn(Block const& block, grid const& g, Body const& body) {
    unsigned const blocks = g.shared_bytes > 0 ? g.blocks : 1;
    for (unsigned i = 0; i < blocks; ++i) {
        if (i > 0) {
            block.sync();
        }
        body(block_in_turn<Block>{block, i, blocks});
    }
}

// Context of launchers within the kernel: they launch nothing, but run a body at once.
template <class T, class Block>
struct block_context {
    using value_type = T;

    Block const& block;
    T* region[regions];                             // by ir::region
    static constexpr std::ptrdiff_t iteration = -1; // there are no loops
    static constexpr reduction_parts<T> parts{};    // and no sums that are split
    static constexpr std::ptrdiff_t repetition = 0; // and no repeated blocks
    T* trained; // a copy of the first parameters in shared memory
    std::ptrdiff_t trainable, samples;
    philox_key key;
    step_values const* now;

    CASTNET_HD T* at(array_ref const& r) const {
        bool const copied = r.where == region::parameters && r.offset < trainable;
        return (copied ? trained : region[static_cast<int>(r.where)]) + r.offset;
    }

    template <class Body>
    CASTNET_HD void launch(grid const& g, Body const& body) const {
        run_in_turn(block, g, body);
        block.sync();
    }
};

// Runs the kernel of a launch that is no product.
template <op Kind, class Code, class Context>
CASTNET_HD void run_kernel(kernel_launch const& s, tables const& t, Context const& c) {
    if constexpr (Kind == op::map || Kind == op::reduce) {
        constexpr kernel<Context> run = fused_kernel<Code, Context>();
        run(s, t, c);
    } else {
        constexpr kernel<Context> run = kernel_for<Context, Kind>::of();
        run(s, t, c);
    }
}

// Runs a launch of a plan; all threads have ended it when it returns.
template <int Samples, class Context, kernel_launch S, class Code, window W, array_ref... A>
CASTNET_HD void run_in_block(constant_launch<S, Code, W, A...>, Context const& c,
                             double const* scalars, double factor) {
    using T = typename Context::value_type;
    kernel_launch s = S;
    s.factor = factor;
    array_ref const arrays[] = {A...};
    window const w = W;
    tables const t{arrays, scalars, &w};
    constexpr array_ref of[] = {A...};
    if constexpr (!is_matmul(S.kind)) {
        run_kernel<S.kind, Code>(s, t, ir::context_of(s, arrays, c));
    } else {
        constexpr product_shape shape = block_product_of(S, of, Samples);
        auto const multiply = [&](auto const& end) {
            using end_type = std::remove_cvref_t<decltype(end)>;
            c.launch({1, block_threads, 1}, block_product_body<shape, T, T, T, T, end_type>{
                                                c.at(arrays[0]), c.at(arrays[1]),
                                                c.at(arrays[S.output]), shape.rows, end});
        };
        if constexpr (S.end.bias) {
            multiply(finished_sums<T, S.end>{c.at(arrays[S.output - 1])});
        } else {
            multiply(plain_sums{});
            if constexpr (S.end.bias_gradient) {
                reduce<Code>(epilogue_launch(s), t, c);
            }
        }
    }
}

template <array_ref...>
struct array_list {};

// A body that brings the samples, all launches of a plan, and then other bodies; they work on
// memory outside of the block.
template <class T, int Samples, one_block_memory Memory, int Scalars, class Steps, class Outputs,
          class First, class... Then>
struct one_block_body;
template <class T, int Samples, one_block_memory Memory, int Scalars, class... Step,
          array_ref... Output, class First, class... Then>
struct one_block_body<T, Samples, Memory, Scalars, constant_launches<Step...>,
                      array_list<Output...>, First, Then...> : First,
                                                               Then... {
    static constexpr unsigned resident_blocks = 1;

    T* region[regions]{};
    philox_key key{};
    step_values const* now = nullptr;
    double scalars[Scalars]{};
    double factors[sizeof...(Step)]{};

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        T* const trained = block.template shared<T>() + Memory.scratch;
        T* const workspace = trained + Memory.trained;
        block_context<T, Block> const c{block,   {region[0], region[1], region[2], workspace},
                                        trained, Memory.trained,
                                        Samples, key,
                                        now};
        copy(block, region[0], trained, Memory.trained);
        c.launch({1, block_threads}, static_cast<First const&>(*this));
        run(c, std::index_sequence_for<Step...>{});
        (..., keep<Output>(block, workspace));
        block.sync();
        (..., c.launch({1, block_threads}, static_cast<Then const&>(*this)));
    }

private:
    template <class Context, std::size_t... I>
    CASTNET_HD void run(Context const& c, std::index_sequence<I...>) const {
        (..., run_in_block<Samples>(Step{}, c, scalars, factors[I]));
    }

    template <class Block>
    CASTNET_HD static void copy(Block const& block, T const* from, T* to, std::ptrdiff_t count) {
        store_each_index(block_in_turn<Block>{block}, count, to,
                         [&](unsigned i) { return from[i]; });
    }

    // Copies a result that is asked for to where all kernels leave it.
    template <array_ref R, class Block>
    CASTNET_HD void keep(Block const& block, T const* workspace) const {
        if constexpr (R.where == ir::region::workspace) {
            std::ptrdiff_t const count =
                std::ptrdiff_t{R.size.pixels} * R.size.channels * (R.size.sample ? Samples : 1);
            copy(block, workspace + R.offset, region[3] + R.offset, count);
        }
    }
};

// Bytes of the body of a plan, without the bodies of `First` and `Then`, at most.
template <auto const& Plan>
constexpr std::size_t own_argument_bytes() {
    return (std::size(Plan.scalars) + std::size(Plan.launches)) * sizeof(double) + 256;
}

template <auto const& Plan, class T, class Numbers, class... Then>
struct make_one_block_body;
template <auto const& Plan, class T, std::size_t... I, class... Then>
struct make_one_block_body<Plan, T, std::index_sequence<I...>, Then...> {
    using type =
        one_block_body<T, Plan.batch, memory_in_one_block<T>(Plan), int(std::size(Plan.scalars)),
                       constant_launches_of<Plan>, array_list<Plan.outputs[I]...>, Then...>;
};

// Puts the launches of a plan that fits one block on the context's stream, and bodies after it.
template <auto const& Plan, class Context, class... Then>
void launch_one_block(Context const& c, Then const&... then) {
    using T = typename Context::value_type;
    typename make_one_block_body<Plan, T, std::make_index_sequence<std::size_t(Plan.sizes.outputs)>,
                                 Then...>::type body{then...};
    static_assert(sizeof body <= argument_bytes); // see takes_arguments()
    std::copy(std::begin(c.region), std::end(c.region), body.region);
    body.key = c.key;
    body.now = c.now;
    std::copy(std::begin(Plan.scalars), std::end(Plan.scalars), body.scalars);
    for (int i = 0; i < Plan.sizes.launches; ++i) {
        body.factors[i] = Plan.launches[i].factor;
    }
    constexpr auto bytes = static_cast<std::size_t>(memory_in_one_block<T>(Plan).all()) * sizeof(T);
    c.launch({1, block_threads, bytes}, body);
}

} // namespace castnet::cuda
