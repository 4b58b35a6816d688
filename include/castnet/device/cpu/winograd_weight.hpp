// Gradients of the weights of convolutions by Winograd's algorithm (winograd.hpp): products of
// transformed tiles are added up, and their sums are transformed back at the end.
#pragma once

#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/winograd_block.hpp>
#include <castnet/device/cpu/winograd_pixels.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

// The sums: for each section of the places in a tile, channels x filters, whole vectors of these.
template <class T>
constexpr std::ptrdiff_t section_sums(tiling const& t) {
    return t.channels * whole_vectors<T>(t.filters);
}
template <class T>
constexpr std::ptrdiff_t winograd_sums(tiling const& t) {
    return t.sections() * section_sums<T>(t);
}

// Scratch memory: transformed pixels, transformed gradients, zeros for the outside.
template <class F>
constexpr std::ptrdiff_t weight_pixels_size(tiling const& t, std::ptrdiff_t steps) {
    return tile_block<F>{steps, whole_vectors<sum_type<F>>(t.channels)}.size(t.sections());
}
template <class F>
constexpr std::ptrdiff_t winograd_weight_scratch(tiling const& t, bool shared) {
    using T = sum_type<F>;
    std::ptrdiff_t const most = steps_of<F>(block_tiles<F>(t, shared));
    return weight_pixels_size<F>(t, most) +
           tile_panels<F>{most, whole_vectors<T>(t.filters)}.size() +
           aligned(whole_vectors<T>(std::max(t.channels, t.filters)));
}

template <class F>
constexpr scratch_size winograd_weight_scratch(window const& w) {
    tiling const t = forward_tiling(w);
    std::ptrdiff_t const sums = winograd_sums<sum_type<F>>(t);
    return sums_by_chunk(w) ? scratch_size{sums, sums, winograd_weight_scratch<F>(t, false)}
                            : aligned(sums) + winograd_weight_scratch<F>(t, true);
}

// Adds the gradient of these samples to the sums.
template <bool Split, class F>
void add_winograd_weight(tiling const& t, std::ptrdiff_t samples, sum_type<F> const* x,
                         sum_type<F> const* dy, bool shared, sum_type<F>* sums,
                         sum_type<F>* scratch) {
    using T = sum_type<F>;
    constexpr std::ptrdiff_t width = simd<T>::width;
    std::ptrdiff_t const channels = whole_vectors<T>(t.channels),
                         filters = whole_vectors<T>(t.filters);
    std::ptrdiff_t const most = block_tiles<F>(t, shared), most_steps = steps_of<F>(most);
    F* const pixels = as_factors<F>(scratch);
    F* const gradients = pixels + weight_pixels_size<F>(t, most_steps);
    T* const zeros =
        scratch + weight_pixels_size<F>(t, most_steps) + tile_panels<F>{most_steps, filters}.size();
    std::fill_n(zeros, std::max(channels, filters), T(0));
    for_each_block(samples * t.tiles(), most, [&](std::ptrdiff_t first, std::ptrdiff_t tiles) {
        std::ptrdiff_t const steps = steps_of<F>(tiles);
        tile_block<F> const left{steps, channels};
        tile_panels<F> const right{steps, filters};
        for_each_piece<Split>(t, [&]<int Down, int Across>(piece_pair const& p, tap_count<Down>,
                                                           tap_count<Across>) {
            place_offsets offset;
            find_sections(t, left, p, offset);
            share_steps<F>(t, first, tiles, [&](std::ptrdiff_t i, auto const& at) {
                transform_image<Down, Across, F>(t, p.down, p.across, x, at, zeros,
                                                 pixels + i * width, offset, left.next_vector());
            });
        });
        with_taps<Split>(t.down.most_taps(), t.across.most_taps(),
                         [&]<int Down, int Across>(tap_count<Down>, tap_count<Across>) {
                             place_offsets offset;
                             for (int i = 0; i < winograd_places; ++i) {
                                 offset[i] = i * right.next_place();
                             }
                             share_steps<F>(t, first, tiles, [&](std::ptrdiff_t i, auto const& at) {
                                 transform_gradients<Down, Across, F>(
                                     t, dy, at, zeros, gradients + i * tile_columns<F>, offset,
                                     right.next_panel());
                             });
                         });
        depth const d{steps, simd<F>::width};
        double const work = 2.0 * double(tiles) * double(winograd_sums<T>(t));
        parallel_for(winograd_places, work, [&](std::ptrdiff_t i) {
            int const p = static_cast<int>(i);
            panels<F> const b{gradients + p * right.next_place(), tile_columns<F>,
                              right.next_panel()};
            row_block<F> block;
            auto const multiply = [&] { block.multiply(d, b, filters, {.accumulate = true}); };
            F const* from = pixels + left.place(p, t.sections_before(p));
            T* to = sums + t.sections_before(p) * section_sums<T>(t);
            for (int section = 0; section < t.sections_at(p); ++section) {
                for (std::ptrdiff_t c = 0; c < t.channels; c += width) {
                    std::ptrdiff_t const rows = std::min<std::ptrdiff_t>(width, t.channels - c);
                    block.push_run(rows, from + c * steps, 1, to, filters, multiply);
                    to += rows * filters;
                }
                from += left.next_section();
            }
            multiply();
        });
    });
}

// The gradient by the weights (height, width, channels, filters) from its sums.
template <bool Split, class T>
void finish_winograd_weight(window const& w, T const* sums, T* dw) {
    tiling const t = forward_tiling(w);
    std::ptrdiff_t const tap = std::ptrdiff_t{w.channels} * w.filters,
                         filters = whole_vectors<T>(w.filters);
    for_each_piece<Split>(
        t, [&]<int Down, int Across>(piece_pair const& p, tap_count<Down>, tap_count<Across>) {
            place_offsets offset;
            for (int i = 0; i < winograd_places; ++i) {
                offset[i] = (t.sections_before(i) + p.section(t, i)) * section_sums<T>(t);
            }
            T* const to = dw + p.first_tap(t, w) * tap;
            parallel_for(w.channels, double(winograd_sums<T>(t)), [&](std::ptrdiff_t c) {
                for (std::ptrdiff_t first = 0; first < w.filters; first += simd<T>::width) {
                    std::ptrdiff_t const k = within<T>(w.filters, first);
                    transform_weight_gradient<Down, Across, T>(
                        sums + c * filters + k, offset, w.filters, to + c * w.filters + k,
                        next_row(t, w) * tap, next_column(t) * tap);
                }
            });
        });
}

// The gradient by the weights of a chunk's samples.
template <class T>
void winograd_conv_weight_begin(kernel_launch const& s, tables const& t, context<T> const& c) {
    std::fill_n(c.sum_at(t.arrays[s.sums]), winograd_sums<T>(forward_tiling(t.windows[s.window])),
                T(0));
}
template <bool Split, class F>
void winograd_conv_weight(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c) {
    add_winograd_weight<Split, F>(forward_tiling(t.windows[s.window]), c.samples,
                                  c.at(t.arrays[s.first_array]), c.at(t.arrays[s.first_array + 1]),
                                  false, c.sum_at(t.arrays[s.sums]),
                                  c.at(t.arrays[s.chunk_scratch]));
}
template <bool Split, class T>
void winograd_conv_weight_finish(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T* const sums = c.at(t.arrays[s.scratch]);
    add_chunks(t.arrays[s.sums], c, winograd_sums<T>(forward_tiling(w)), T(1), sums);
    finish_winograd_weight<Split>(w, sums, c.at(t.arrays[s.output]));
}

// The gradient by the weights of all samples; threads share the tiles.
template <bool Split, class F>
void winograd_conv_whole_weight(kernel_launch const& s, tables const& t,
                                context<sum_type<F>> const& c) {
    using T = sum_type<F>;
    window const& w = t.windows[s.window];
    tiling const tiles = forward_tiling(w);
    T* const sums = c.at(t.arrays[s.scratch]);
    std::fill_n(sums, winograd_sums<T>(tiles), T(0));
    add_winograd_weight<Split, F>(tiles, c.samples, c.at(t.arrays[s.first_array]),
                                  c.at(t.arrays[s.first_array + 1]), true, sums,
                                  sums + aligned(winograd_sums<T>(tiles)));
    finish_winograd_weight<Split>(w, sums, c.at(t.arrays[s.output]));
}

} // namespace castnet::cpu::inline CASTNET_TARGET
