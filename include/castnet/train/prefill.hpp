// Prefill of a sequence: the states after many steps, computed at once.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/philox.hpp>
#include <castnet/data/whole_numbers.hpp>
#include <castnet/device/executor_sizes.hpp>
#include <castnet/train/compiled_step.hpp>
#include <castnet/train/sequence_recipes.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>

namespace castnet::detail {

// The plan of the states of a network's sequences, which is compiled where prefill() is called.
template <class Network, class Device>
class prefill {
    using T = typename Device::value_type;
    using session = typename Device::session;
    using executor = typename Device::executor;
    static constexpr auto const& step =
        compiled_step<one_step_recipe, Network, Device, 1, false>::value;
    static constexpr auto const& plan =
        compiled_step<states_recipe, Network, Device, 1, false>::value;
    static constexpr size_t inputs = Network::inputs::size;
    using counts = std::array<size_t, inputs>;

    static constexpr size_t steps_of(size_t input) {
        return size_t(plan.inputs[input].size.count() / step.inputs[input].size.count());
    }

public:
    // Steps of the network's sequences.
    static constexpr size_t steps = [] {
        size_t most = 0;
        for (size_t i = 0; i < inputs; ++i) {
            most = std::max(most, steps_of(i));
        }
        return most;
    }();

    // Of an input without a time axis there is one step, which all have.
    static constexpr bool has_time(size_t input) { return steps == 1 || steps_of(input) > 1; }

    // So many steps take as long one by one as all of them at once: an eighth of them, or most of
    // them in loops, which are computed step by step in either case.
    static constexpr size_t worthwhile_steps() {
        for (ir::kernel_launch const& s : plan.launches) {
            if (s.loop >= 0) {
                return steps - steps / 4;
            }
        }
        return steps / 8;
    }

    // The steps of which so many numbers of each input are. Throws castnet::error for numbers that
    // are no whole steps, and for none.
    static size_t count_steps(counts const& given) {
        size_t common = 0;
        for (size_t i = 0; i < inputs; ++i) {
            auto const in_step = size_t(step.inputs[i].size.count());
            if (has_time(i) ? given[i] % in_step != 0 || given[i] == 0 : given[i] != in_step) {
                throw error({"castnet: stateful_predictor::prefill: input ", i, " was given ",
                             quantity(given[i], "number"), ", expected ", in_step,
                             has_time(i) ? " for each of its steps" : ", as it has no time axis"});
            }
            if (size_t const own = given[i] / in_step; has_time(i)) {
                if (common > 0 && own != common) {
                    throw error({"castnet: stateful_predictor::prefill: input ", i, " was given ",
                                 quantity(own, "step"), ", and those before it ", common});
                }
                common = own;
            }
        }
        return common;
    }

    template <class Parameters>
    static std::unique_ptr<executor> make_executor(session& of, Parameters parameters,
                                                   philox_key key) {
        constexpr auto sizes = ir::sizes_on<Device>(
            {0, 0, plan.elements(ir::region::batch), plan.elements(ir::region::workspace)}, plan);
        return std::make_unique<executor>(of, parameters, key, sizes);
    }

    // Computes the states after each of the given steps.
    template <class... Numbers>
    static void run(executor& e, std::span<Numbers const> const&... given) {
        write(e.batch(), std::index_sequence_for<Numbers...>{}, given...);
        e.template run<plan>(1, 0);
    }

    // Copies the carries after the first `done` steps, which are the last rows of sequences, to the
    // host's memory. Before the first step all are 0.
    template <size_t Carries>
    static void read_carries(session& of, executor const& e, size_t done,
                             std::array<T*, Carries> const& to) {
        for (size_t c = 0; c < Carries; ++c) {
            ir::array_ref const& from = plan.outputs[c];
            constexpr size_t results = std::size(step.outputs) - Carries;
            std::ptrdiff_t const in_row = from.size.count() / std::ptrdiff_t(steps),
                                 numbers = step.outputs[results + c].size.count(),
                                 there = std::min(numbers, std::ptrdiff_t(done) * in_row);
            std::fill_n(to[c], numbers - there, T(0));
            of.read(e.at(from) + (std::ptrdiff_t(done) * in_row - there), there,
                    [&](T const* rows) { std::copy_n(rows, there, to[c] + numbers - there); });
        }
    }

    // Copies the first `done` rows of each cache, which stand after the carries, to the executor
    // of single steps.
    static void copy_caches(session& of, executor const& e, size_t done, size_t carries,
                            executor& of_step) {
        for (ir::kernel_launch const& s : step.launches) {
            if (s.kind == op::cache) {
                ir::array_ref const &to = step.arrays[s.output],
                                    &from = plan.outputs[carries + size_t(s.attribute)];
                auto const numbers = std::ptrdiff_t(done) * to.size.channels;
                of.read(e.at(from), numbers, [&](T const* kept) {
                    of.write(of_step.at(to), numbers,
                             [&](T* cache) { std::copy_n(kept, numbers, cache); });
                });
            }
        }
    }

private:
    template <size_t... I, class... Numbers>
    static void write(T* batch, std::index_sequence<I...>,
                      std::span<Numbers const> const&... given) {
        (..., [&](std::span<Numbers const> from) {
            T* const to = batch + plan.inputs[I].offset;
            std::transform(from.begin(), from.end(), to, [](Numbers x) { return T(x); });
            std::fill(to + from.size(), to + plan.inputs[I].size.count(), T(0)); // nobody reads it
            constexpr auto ids = data::whole_numbers_of<nth_of<I, typename Network::inputs>>;
            if constexpr (ids.values > 0) {
                ids.check(to, 0, "castnet: stateful_predictor");
            }
        }(given));
    }
};

} // namespace castnet::detail
