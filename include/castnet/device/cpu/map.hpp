// Fused element-wise programs that store their result at every point.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/device/cpu/context.hpp>
#include <castnet/device/cpu/threads.hpp>
#include <castnet/plan/evaluate.hpp>

namespace castnet::cpu {

template <class T>
program_arguments<T> arguments_of(step const& s, tables const& t, context<T> const& c) {
    program_arguments<T> a{};
    for (int i = 0; i < s.arrays; ++i) {
        a.array[i] = c.at(t.arrays[s.first_array + i]);
    }
    for (int i = 0; i < s.scalars; ++i) {
        a.scalar[i] = static_cast<T>(t.scalars[s.first_scalar + i]);
    }
    a.key = c.key;
    a.step = c.step;
    a.first_sample = c.first_sample;
    return a;
}

template <class Program, class T>
void map(step const& s, tables const& t, context<T> const& c) {
    program_arguments<T> const a = arguments_of(s, t, c);
    T* const out = c.at(t.arrays[s.output]);
    std::ptrdiff_t const samples = s.space.sample ? c.samples : 1;
    std::ptrdiff_t const pixels = s.space.pixels, channels = s.space.channels;
    std::ptrdiff_t const rows = samples * pixels;
    // rows are short where there are few channels: deal them out in larger pieces
    std::ptrdiff_t const rows_each = 1 + 2048 / channels;
    std::ptrdiff_t const pieces = (rows + rows_each - 1) / rows_each;
    parallel_for(pieces, double(rows * channels * Program::size), [&](std::ptrdiff_t piece) {
        std::ptrdiff_t const end = (piece + 1) * rows_each < rows ? (piece + 1) * rows_each : rows;
        for (std::ptrdiff_t row = piece * rows_each; row < end; ++row) {
            std::ptrdiff_t const sample = row / pixels, pixel = row % pixels;
            T* const to = out + row * channels;
            CASTNET_IVDEP
            for (std::ptrdiff_t channel = 0; channel < channels; ++channel) {
                to[channel] = evaluate<Program>(a, point{sample, pixel, channel, pixels, channels});
            }
        }
    });
}

} // namespace castnet::cpu
