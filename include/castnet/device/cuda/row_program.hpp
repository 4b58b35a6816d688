// Fused programs by rows: the threads that have a row take it through one phase of the program
// after another (plan/instruction.hpp). What a phase reduces the row to, they share; what is summed
// over the rows is added up in a fixed order.
#pragma once

#include <castnet/device/cuda/map.hpp>
#include <castnet/device/cuda/program_phases.hpp>
#include <castnet/device/cuda/reduction_parts.hpp>
#include <castnet/device/cuda/tuning.hpp>

#include <algorithm>

namespace castnet::cuda {

template <class Program, class T>
struct row_program_body {
    using phases = program_phases<Program>;
    template <class Phase>
    using reducers = row_reducers<Phase, T, std::make_integer_sequence<int, Phase::results>>;
    static constexpr int lanes = lanes_of_program<Program, T>;

    program_arguments<T> arguments;
    step_values const* now;
    T* out[Program::results]; // or bfloat16, as the program says
    quotient pixels;          // of a sample
    std::uint32_t rows, channels;
    unsigned shift; // 2^shift threads have a row
    bool in_lanes;
    reduction_parts<T> parts; // where several blocks sum over the rows

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        program_arguments<T> a = arguments;
        if constexpr (Program::random_streams > 0) {
            a.step = now->step;
            a.first_sample = now->first_sample;
        }
        T total[sums > 0 ? sums : 1]{};
        unsigned const wide = block_threads >> shift;
        place at;
        at.x = block.thread() >> shift;
        at.y = block.thread() - (at.x << shift);
        for (std::uint32_t first = block.index() * wide; first < rows;
             first += block.blocks() * wide) {
            at.row = first + at.x;
            run_phases(block, at, a, total, std::make_integer_sequence<int, phases::count>{});
        }
        if constexpr (sums > 0) {
            add_up(block, total);
        }
    }

private:
    // Of a thread: its row in the block and in all; its number among those of the row.
    struct place {
        unsigned x, y;
        std::uint32_t row;
    };

    // Results that are sums over the rows, up to this end of the program.
    template <int Phase, int K>
    CASTNET_HD static constexpr int sums_before() {
        int count = 0;
        for (int i = 0; i < phases::begin(Phase); ++i) {
            count += is_sum_over_rows(phases::at(i));
        }
        for (int k = 0; k < K; ++k) {
            count += is_sum_over_rows(phases::template phase<Phase>::end_of(k));
        }
        return count;
    }
    CASTNET_HD static constexpr bool is_sum_over_rows(instruction const& i) {
        return i.code == opcode::reduce && !keeps_rows(i);
    }
    CASTNET_HD static constexpr bool is_of_row(instruction const& i) {
        return i.code == opcode::reduce && keeps_rows(i);
    }
    CASTNET_HD static constexpr bool is_of_channels(instruction const& i) {
        return i.code == opcode::store && i.b == 0;
    }
    // Where a phase stores what ends there, in the type that it is stored in.
    template <int Phase, int K>
    CASTNET_HD auto* phase_result() const {
        return result_of<typename phases::template phase<Phase>, std::size_t(K)>(
            out[phases::first_end(Phase) + K]);
    }
    CASTNET_HD static constexpr int count_sums() {
        int count = 0;
        for (int i = 0; i < Program::length; ++i) {
            count += is_sum_over_rows(phases::at(i));
        }
        return count;
    }

    template <int... Phase>
    static constexpr std::size_t most_bytes(std::integer_sequence<int, Phase...>) {
        std::size_t bytes = sizeof(T) * std::size_t(count_sums() > 0 ? count_sums() : 1);
        (...,
         void(bytes = std::max(bytes, sizeof(reducers<typename phases::template phase<Phase>>))));
        return bytes;
    }
    static constexpr std::size_t bytes_of_reducers =
        (most_bytes(std::make_integer_sequence<int, phases::count>{}) + 15) / 16 * 16;

public:
    static constexpr int sums = count_sums(); // over the rows

    // Of each thread: its part of a reduction, and the results of a row.
    static constexpr std::size_t shared_bytes =
        block_threads * (bytes_of_reducers + sizeof(T) * std::size_t(Program::results));

private:
    template <class Block, int... Phase>
    CASTNET_HD void run_phases(Block const& block, place const& at, program_arguments<T>& a,
                               T* total, std::integer_sequence<int, Phase...>) const {
        (..., run_phase<Phase>(block, at, a, total));
    }

    template <int Phase, class Block>
    CASTNET_HD void run_phase(Block const& block, place const& at, program_arguments<T>& a,
                              T* total) const {
        using phase = typename phases::template phase<Phase>;
        constexpr int first = phases::first_end(Phase);
        reducers<phase> part;
        if (at.row < rows) {
            if (in_lanes) {
                visit<Phase, lanes>(at, a, part, total);
            } else {
                visit<Phase, 1>(at, a, part, total);
            }
        }
        join<phase>(block, at, part);
        T* const values =
            reinterpret_cast<T*>(block.template shared<char>() + block_threads * bytes_of_reducers);
        for_each_end<phase>([&](auto number) {
            constexpr int k = decltype(number)::value;
            constexpr instruction end = phase::end_of(k);
            if constexpr (is_of_row(end)) {
                if (at.y == 0 && at.row < rows) {
                    auto const& one = static_cast<row_reducer<phase, k, T> const&>(part);
                    T const value = one.result(a.scalar[end.f - 1]);
                    out[first + k][at.row] = value;
                    values[unsigned(k) * block_threads + at.x] = value;
                }
            }
        });
        if constexpr (reduces<phase>()) {
            block.sync();
            for_each_end<phase>([&](auto number) {
                constexpr int k = decltype(number)::value;
                constexpr instruction end = phase::end_of(k);
                if constexpr (is_of_row(end)) {
                    a.scalar[end.e - 1] = values[unsigned(k) * block_threads + at.x];
                }
            });
            block.sync();
        }
    }
    template <class Phase>
    CASTNET_HD static constexpr bool reduces() {
        bool any = false;
        for (int k = 0; k < Phase::results; ++k) {
            any = any || is_of_row(Phase::end_of(k));
        }
        return any;
    }

    // Evaluates a phase at this thread's channels of its row.
    template <int Phase, int Lanes, class Part>
    CASTNET_HD void visit(place const& at, program_arguments<T> const& a, Part& part,
                          T* total) const {
        using phase = typename phases::template phase<Phase>;
        std::uint32_t const sample = pixels.divide(at.row),
                            pixel = at.row - sample * pixels.divisor;
        CASTNET_NO_UNROLL
        for (std::uint32_t group = at.y; group < channels / unsigned(Lanes); group += 1U << shift) {
            std::uint32_t const channel = group * unsigned(Lanes);
            lane_point const p{{sample, pixel, channel, pixels.divisor, channels},
                               group,
                               channels / unsigned(Lanes)};
            T value[phase::results][Lanes];
            evaluate_lanes<Lanes>(
                phase{}, a, p, std::make_index_sequence<phase::length>{}, [&](T const* r, int i) {
                    for_each_end<phase>([&](auto number) {
                        constexpr int k = decltype(number)::value;
                        constexpr instruction end = phase::end_of(k);
                        std::uint32_t const here = channel + static_cast<std::uint32_t>(i);
                        if constexpr (is_of_channels(end)) {
                            value[k][i] = r[end.d];
                        } else if constexpr (end.code == opcode::store) {
                            if (here == 0) {
                                T const one[] = {r[end.d]};
                                store_lanes(one, phase_result<Phase, k>() + at.row);
                            }
                        } else if constexpr (is_of_row(end)) {
                            static_cast<row_reducer<phase, k, T>&>(part).take(r[end.d], here);
                        } else if (here == 0) {
                            constexpr int before = sums_before<Phase, k>();
                            total[before] += r[end.d];
                        }
                    });
                });
            for_each_end<phase>([&](auto number) {
                constexpr int k = decltype(number)::value;
                if constexpr (is_of_channels(phase::end_of(k))) {
                    store_lanes(value[k], phase_result<Phase, k>() + p.offset(7));
                }
            });
        }
    }

    // part of the first thread of each row = those of all its threads.
    template <class Phase, class Block>
    CASTNET_HD void join(Block const& block, place const& at, reducers<Phase>& part) const {
        if (!reduces<Phase>() || shift == 0) {
            return;
        }
        auto* const all = block.template shared<reducers<Phase>>() + block.thread();
        *all = part;
        CASTNET_NO_UNROLL
        for (unsigned half = 1U << shift >> 1; half > 0; half /= 2) {
            block.sync();
            if (at.y < half) {
                for_each_end<Phase>([&](auto number) {
                    constexpr int k = decltype(number)::value;
                    if constexpr (is_of_row(Phase::end_of(k))) {
                        using one = row_reducer<Phase, k, T>;
                        static_cast<one&>(part).join(static_cast<one const&>(all[half]));
                    }
                });
                *all = part;
            }
        }
    }

    // The results that are sums over the rows. The last block to end adds those of all.
    template <class Block>
    CASTNET_HD void add_up(Block const& block, T (&total)[sums]) const {
        add_threads(block, total);
        if (block.blocks() > 1) {
            for (int k = 0; k < sums && block.thread() == 0; ++k) {
                parts.elements[block.index() * sums + unsigned(k)] = total[k];
            }
            if (!block.is_last(parts.tickets, block.blocks())) {
                return;
            }
            CASTNET_UNROLL
            for (int k = 0; k < sums; ++k) {
                total[k] = 0;
                for (unsigned b = block.thread(); b < block.blocks(); b += block_threads) {
                    total[k] += parts.elements[b * sums + unsigned(k)];
                }
            }
            add_threads(block, total);
        }
        if (block.thread() == 0) {
            store_sums(total, std::make_integer_sequence<int, phases::count>{});
        }
    }
    template <int... Phase>
    CASTNET_HD void store_sums(T const* total, std::integer_sequence<int, Phase...>) const {
        (..., store_sums_of<Phase>(total));
    }
    template <int Phase>
    CASTNET_HD void store_sums_of(T const* total) const {
        using phase = typename phases::template phase<Phase>;
        for_each_end<phase>([&](auto number) {
            constexpr int k = decltype(number)::value;
            constexpr instruction end = phase::end_of(k);
            if constexpr (is_sum_over_rows(end)) {
                *out[phases::first_end(Phase) + k] =
                    total[sums_before<Phase, k>()] * arguments.scalar[end.f - 1];
            }
        });
    }
    // total of the first thread = those of all threads of the block.
    template <class Block>
    CASTNET_HD static void add_threads(Block const& block, T (&total)[sums]) {
        T* const all = block.template shared<T>() + block.thread();
        CASTNET_UNROLL
        for (int k = 0; k < sums; ++k) {
            all[unsigned(k) * block_threads] = total[k];
        }
        CASTNET_NO_UNROLL
        for (unsigned half = block_threads / 2; half > 0; half /= 2) {
            block.sync();
            for (int k = 0; k < sums && block.thread() < half; ++k) {
                total[k] += all[unsigned(k) * block_threads + half];
                all[unsigned(k) * block_threads] = total[k];
            }
        }
        block.sync();
    }
};

CASTNET_CALLS_UNCHECKED
template <class Program, class Context>
CASTNET_HD void run_row_program(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    using body = row_program_body<Program, T>;
    auto const channels = static_cast<std::uint32_t>(s.space.channels);
    body b{arguments_of(s, t, c),
           c.now,
           {},
           quotient(s.space.pixels),
           static_cast<std::uint32_t>(c.samples * s.space.pixels),
           channels,
           0,
           in_lanes<Program, T>(s.space.channels),
           c.parts};
    while (8U << b.shift < channels && 1U << b.shift < block_threads) {
        ++b.shift;
    }
    for (int k = 0; k < Program::results; ++k) {
        b.out[k] = c.at(t.arrays[s.output + k]);
    }
    unsigned const wide = block_threads >> b.shift, groups = (b.rows + wide - 1) / wide,
                   most = body::sums == 0               ? groups
                          : c.parts.elements != nullptr ? reduction_blocks
                                                        : 1;
    c.launch({groups < most ? groups : most, block_threads, body::shared_bytes}, b);
}

} // namespace castnet::cuda
