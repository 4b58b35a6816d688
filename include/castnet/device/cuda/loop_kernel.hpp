// A loop over time as one kernel: samples do not depend on each other, so a block runs all
// iterations for some of them, with the weights in its shared memory.
#pragma once

#include <castnet/device/constant_launch.hpp>
#include <castnet/device/cuda/kernels.hpp>
#include <castnet/device/cuda/loop_barriers.hpp>
#include <castnet/device/cuda/loop_memory.hpp>
#include <castnet/device/cuda/loop_slots.hpp>
#include <castnet/device/cuda/one_block.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

namespace castnet::cuda {

// Context of launchers within the kernel: they launch nothing, but run a body at once. Arrays
// that have a slot lie in shared memory.
template <class T, class Block, int MostSamples, class Slots>
struct loop_context;
template <class T, class Block, int MostSamples, loop_slot... Slot>
struct loop_context<T, Block, MostSamples, slot_list<Slot...>> {
    using value_type = T;
    static constexpr std::ptrdiff_t most_samples = MostSamples;

    Block const& block;
    T* region[regions]; // by ir::region
    std::ptrdiff_t samples, samples_before, iteration, repetition;
    philox_key key;
    step_values const* now;
    T* slots;
    static constexpr reduction_parts<T> parts{}; // no sums are split

    CASTNET_HD T* at(array_ref const& r) const {
        T* found = region[static_cast<int>(r.where)] + r.offset + repetition * r.repeat_stride;
        (..., find<Slot>(r, found));
        return found;
    }
    // (The loop waits after it, where it has to.)
    template <class Body>
    CASTNET_HD void launch(grid const& g, Body const& body) const {
        run_in_turn(block, g, body);
    }

    // Copy what the block's samples have in slots, before the loop and after it.
    CASTNET_HD void fill_slots() const { (..., move<Slot, false>()); }
    CASTNET_HD void empty_slots() const { (..., move<Slot, true>()); }

private:
    template <loop_slot S>
    using element = std::conditional_t<S.is_bf16, bfloat16, T>;

    // As if all samples were there.
    template <loop_slot S>
    CASTNET_HD element<S>* inside() const {
        return reinterpret_cast<element<S>*>(slots + S.place) - samples_before * S.stride;
    }
    template <loop_slot S>
    CASTNET_HD void find(array_ref const& r, T*& found) const {
        constexpr loop_slot slot = S;
        found = slot.holds(r) ? reinterpret_cast<T*>(inside<S>()) : found;
    }
    template <loop_slot S, bool Out>
    CASTNET_HD void move() const {
        if constexpr (Out ? S.goes_out : S.comes_in) {
            auto* const all =
                reinterpret_cast<element<S>*>(region[static_cast<int>(ir::region::workspace)] +
                                              S.offset + repetition * S.repeat_stride);
            element<S>* const mine = inside<S>();
            std::ptrdiff_t const first = samples_before * S.stride;
            for_each_in_block(block, samples * S.stride, [&](std::ptrdiff_t i) {
                (Out ? all : mine)[first + i] = (Out ? mine : all)[first + i];
            });
        }
    }
};

// A step of a loop; those of its products read weights from a place in shared memory.
template <class Step>
struct loop_step;
template <kernel_launch S, class Code, window W, array_ref... A>
struct loop_step<constant_launch<S, Code, W, A...>> {
    // (clang does not take an element of a static member for a constant.)
    CASTNET_HD static constexpr array_ref array_at(int i) {
        array_ref const all[] = {A...};
        return all[i];
    }
    static constexpr bool is_product = is_matmul(S.kind);

    // Elements that its weight takes.
    template <class T>
    static constexpr std::ptrdiff_t weights = [] {
        if constexpr (is_product) {
            array_ref const all[] = {A...};
            return weight_in_loop<T>(S, all);
        } else {
            return std::ptrdiff_t{0};
        }
    }();

    // Copies the weight of a product, as (depth, columns).
    template <class Context>
    CASTNET_HD static void load_weight(Context const& c, typename Context::value_type* to) {
        if constexpr (is_product) {
            auto const* const from = elements<1>(c);
            auto* const at = reinterpret_cast<element<1, typename Context::value_type>*>(to);
            constexpr bool transposes = S.kind == op::matmul_data;
            constexpr std::ptrdiff_t depth = array_at(0).size.channels,
                                     columns = array_at(S.output).size.channels;
            for_each_in_block(c.block, depth * columns, [&](std::ptrdiff_t i) {
                at[transposes ? i % depth * columns + i / depth : i] = from[i];
            });
        }
    }

    // Runs the step; other threads may not have ended it when it returns.
    template <int Samples, class Context>
    CASTNET_HD static void run(Context const& c, typename Context::value_type* factors,
                               typename Context::value_type const* weight, double const* scalars,
                               double factor) {
        array_ref const own[] = {A...};
        window const w = W;
        kernel_launch s = S;
        s.factor = factor;
        s.first_scalar = 0;
        tables const t{own, scalars, &w};
        if constexpr (is_product) {
            if constexpr (S.end.bias) {
                auto const* const bias = elements<S.output - 1>(c);
                multiply<Samples>(
                    c, factors, weight,
                    finished_sums<std::remove_const_t<std::remove_pointer_t<decltype(bias)>>,
                                  S.end>{bias});
            } else {
                multiply<Samples>(c, factors, weight, plain_sums{});
            }
        } else {
            run_kernel<S.kind, Code>(s, t, c);
        }
    }

private:
    // Elements of an array, whose type is known here.
    template <int Array, class T>
    using element = std::conditional_t<array_at(Array).is_bf16, bfloat16, T>;
    template <int Array, class Context>
    CASTNET_HD static auto* elements(Context const& c) {
        array_ref const own[] = {A...};
        return reinterpret_cast<element<Array, typename Context::value_type>*>(c.at(own[Array]));
    }

    template <int Samples, class Context, class End>
    CASTNET_HD static void multiply(Context const& c, typename Context::value_type* factors,
                                    typename Context::value_type const* weight, End const& end) {
        using T = typename Context::value_type;
        constexpr array_ref all[] = {A...};
        constexpr product_shape shape = loop_product_of(S, all, Samples);
        constexpr extents from = array_at(0).size, to = array_at(S.output).size;
        pixel_rows const read = rows_of(from, c), written = rows_of(to, c);
        auto const* const x = elements<0>(c);
        for_each_in_block(c.block, c.samples * shape.depth, [&](std::ptrdiff_t i) {
            factors[i] = T(x[read(i / shape.depth) * shape.depth + i % shape.depth]);
        });
        c.block.sync();
        c.launch({1, block_threads, 1},
                 block_product_body<shape, T, T, element<1, T>, element<S.output, T>, End>{
                     factors, reinterpret_cast<element<1, T> const*>(weight),
                     elements<S.output>(c) + written.first * shape.columns, int(c.samples), end});
    }
};

template <class T, int Samples, loop_memory Memory, class Slots, std::uint64_t Barriers,
          bool Backwards, class Steps>
struct loop_body;
template <class T, int Samples, loop_memory Memory, class Slots, std::uint64_t Barriers,
          bool Backwards, class... Step>
struct loop_body<T, Samples, Memory, Slots, Barriers, Backwards, constant_launches<Step...>> {
    static constexpr unsigned resident_blocks = 1;
    static constexpr int steps = int(sizeof...(Step));

    T* region[regions]{};
    philox_key key{};
    step_values const* now = nullptr;
    std::ptrdiff_t samples = 0, iterations = 0, repetition = 0;
    double scalars[(1 + ... + Step::numbers.scalars)]{}; // of all steps
    double factors[steps]{};

    // The first scalar of a step.
    static constexpr int first_scalar(int step) {
        int const scalars_of[] = {Step::numbers.scalars...};
        int first = 0;
        for (int i = 0; i < step; ++i) {
            first += scalars_of[i];
        }
        return first;
    }

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        T* const shared = block.template shared<T>();
        std::ptrdiff_t const before = std::ptrdiff_t{block.index()} * Samples,
                             left = samples - before;
        loop_context<T, Block, Samples, Slots> c{block,
                                                 {region[0], region[1], region[2], region[3]},
                                                 left < Samples ? left : Samples,
                                                 before,
                                                 0,
                                                 repetition,
                                                 key,
                                                 now,
                                                 shared + Memory.before_slots()};
        run(c, shared, std::index_sequence_for<Step...>{});
    }

private:
    // Where a step's weight lies in shared memory.
    static constexpr std::ptrdiff_t weight_of(int step) {
        std::ptrdiff_t const weights[] = {loop_step<Step>::template weights<T>...};
        std::ptrdiff_t place = Memory.scratch + Memory.factors;
        for (int i = 0; i < step; ++i) {
            place += weights[i];
        }
        return place;
    }

    // (nvcc warns of calls within kernels, even of those that it evaluates.)
    template <int I>
    static constexpr std::ptrdiff_t weight_at = weight_of(I);
    template <int I>
    static constexpr int scalar_at = first_scalar(I);

    template <class Context, std::size_t... I>
    CASTNET_HD void run(Context& c, T* shared, std::index_sequence<I...>) const {
        (..., load_weight<Step, int(I)>(c, shared));
        c.fill_slots();
        c.block.sync();
        CASTNET_NO_UNROLL
        for (std::ptrdiff_t k = 0; k < iterations; ++k) {
            c.iteration = Backwards ? iterations - 1 - k : k;
            (..., run_step<Step, int(I)>(c, shared));
        }
        c.empty_slots();
    }
    template <class S, int I, class Context>
    CASTNET_HD static void load_weight(Context const& c, T* shared) {
        loop_step<S>::load_weight(c, shared + weight_at<I>);
    }
    template <class S, int I, class Context>
    CASTNET_HD void run_step(Context const& c, T* shared) const {
        loop_step<S>::template run<Samples>(c, shared + Memory.scratch, shared + weight_at<I>,
                                            scalars + scalar_at<I>, factors[I]);
        if constexpr (has_barrier(Barriers, I)) {
            c.block.sync();
        }
    }
};

template <auto const& Plan, int First, class Numbers>
struct make_loop_steps;
template <auto const& Plan, int First, std::size_t... I>
struct make_loop_steps<Plan, First, std::index_sequence<I...>> {
    using type = constant_launches<constant_launch_of<Plan, First + int(I)>...>;
};

// Puts a loop on the context's stream.
template <auto const& Plan, int Stage, class Context>
void launch_loop(int repetition, Context const& c) {
    using T = typename Context::value_type;
    constexpr stage g = Plan.stages[Stage];
    constexpr loop_memory memory = memory_of_loop<T>(Plan, g);
    constexpr int samples = samples_of_loop_block(Plan.batch);
    static constexpr loop_slots slots =
        memory.slots > 0 ? slots_of_loop<T>(Plan, g, samples) : loop_slots{};
    using slot_types = decltype([]<int... K>(std::integer_sequence<int, K...>) {
        return slot_list<slots.of[K]...>{};
    }(std::make_integer_sequence<int, slots.count>{}));
    using steps =
        typename make_loop_steps<Plan, g.first,
                                 std::make_index_sequence<std::size_t(g.last - g.first)>>::type;
    loop_body<T, samples, memory, slot_types, barriers_of_loop<T>(Plan, g), g.backwards, steps>
        body;
    static_assert(sizeof body <= argument_bytes);
    std::copy(std::begin(c.region), std::end(c.region), body.region);
    body.key = c.key;
    body.now = c.now;
    body.samples = c.samples;
    body.iterations = g.iterations;
    body.repetition = repetition;
    for (int i = g.first; i < g.last; ++i) {
        kernel_launch const& s = Plan.launch(i);
        body.factors[i - g.first] = s.factor;
        std::copy_n(Plan.scalars + s.first_scalar, s.scalars,
                    body.scalars + body.first_scalar(i - g.first));
    }
    c.launch({static_cast<unsigned>((c.samples + samples - 1) / samples), block_threads,
              static_cast<std::size_t>(memory.all()) * sizeof(T)},
             body);
}

template <class Context>
using loop_launcher = void (*)(int repetition, Context const&);

template <class Device, auto const& Plan, int Stage>
constexpr loop_launcher<typename Device::context> loop_launcher_if_any() {
    if constexpr (Device::template in_one_kernel<Plan, Stage>) {
        return &launch_loop<Plan, Stage, typename Device::context>;
    } else {
        return nullptr;
    }
}
// By stage of a plan; nullptr for all that are no such kernels.
template <class Device, auto const& Plan>
inline constexpr auto loop_launchers = []<int... I>(std::integer_sequence<int, I...>) {
    return std::array<loop_launcher<typename Device::context>, sizeof...(I)>{
        loop_launcher_if_any<Device, Plan, I>()...};
}(std::make_integer_sequence<int, Plan.sizes.stages>{});

// Puts the launches of one of a plan's stages on the context's stream, and calls after(i) for
// launch i.
template <class Device, auto const& Plan, class After>
void enqueue_stage(stage const& g, int repetition, typename Device::context const& c,
                   After const& after) {
    if constexpr (has_loops(Plan)) {
        auto const number = static_cast<std::size_t>(&g - Plan.stages);
        if (auto const launch = loop_launchers<Device, Plan>[number]) {
            launch(repetition, c);
            for (int i = g.first; i < g.last; ++i) {
                after(i);
            }
            return;
        }
    }
    run_stage<Device, Plan>(g, repetition, c, after);
}

} // namespace castnet::cuda
