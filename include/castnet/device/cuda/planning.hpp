// Properties of a GPU that plans are made for; they need nothing of CUDA.
#pragma once

#include <castnet/device/cuda/epilogue.hpp>
#include <castnet/device/cuda/mix.hpp>
#include <castnet/device/cuda/orthogonalize.hpp>
#include <castnet/device/cuda/reduce.hpp>
#include <castnet/device/cuda/transform.hpp>
#include <castnet/optim/optimizer.hpp>
#include <castnet/plan/mixed_precision.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace castnet::cuda {

// Whether the last launch of a plan does nothing but widen gradients. (Not of a plan in one block.)
template <class Plan>
constexpr bool widens_last(Plan const& p) {
    kernel_launch const& last = p.launch(Plan::sizes.launches - 1);
    return last.kind == op::convert && last.repeat < 0 &&
           p.arrays[last.output].where == region::gradients;
}

// Whether the update by a rule reads gradients that this launch would widen, which is left out
// then.
template <class Rule, class Plan>
constexpr bool widens_in_update(Plan const& p) {
    return widens_last(p) && !NeedsNorm<Rule> && !ByParameter<Rule>;
}

// A base of devices that compute in T. Bf16: products and convolutions read bfloat16
// (plan/mixed_precision.hpp).
template <class T, bool Bf16>
struct planning : ir::factor_storage<T, Bf16> {
    using value_type = T;
    static constexpr bool is_gpu = true;
    static constexpr bool joins_launches = true; // plan/join.hpp

    // Offsets are multiples of so many elements.
    static constexpr std::ptrdiff_t alignment =
        static_cast<std::ptrdiff_t>(alignment_bytes / sizeof(T));

    // Elements of memory that a launch needs besides its operands and its results: none in a plan,
    // since reductions share theirs, and so do the libraries.
    static constexpr scratch_size scratch(kernel_launch const&, window const*, instruction const&) {
        return 0;
    }

    // A body that changes images of a data set that the device keeps: `images` of them, of this
    // size, each by a function of its own.
    template <class Drawn>
    static transform_body<Drawn, T> image_transform(Drawn const* drawn, stored_array<T> const& from,
                                                    T* to, std::ptrdiff_t images, int channels,
                                                    int height, int width) {
        std::ptrdiff_t const pixels = std::ptrdiff_t{height} * width;
        return {drawn,
                from,
                to,
                static_cast<std::uint32_t>(channels),
                std::uint32_t(height),
                quotient(width),
                quotient(pixels),
                images * pixels};
    }

    // And the bodies that tell such functions what they need to know of the images, with memory for
    // a number of each of their rows.
    template <class Drawn>
    static row_sums_body<Drawn, T> image_row_sums(Drawn const* drawn, stored_array<T> const& from,
                                                  double* sums, std::ptrdiff_t images, int channels,
                                                  int height, int width) {
        return {
            drawn,          from, sums, std::size_t(channels), std::size_t(width), quotient(height),
            images * height};
    }
    template <class Drawn>
    static set_sums_body<Drawn> image_sums(Drawn* drawn, double const* sums, std::ptrdiff_t images,
                                           int height, int width) {
        return {drawn, sums, std::size_t(height), std::size_t(width), images};
    }

    // A body that mixes samples of such a data set, those from number `first` on, with others, each
    // by a mixture of its own; and one that cuts images.
    template <class Mixture>
    static mix_body<Mixture, T> mixing(Mixture const* drawn, stored_array<T> const& from, T* to,
                                       std::size_t first, std::ptrdiff_t samples,
                                       std::ptrdiff_t size) {
        return {drawn, from, to, first, quotient(size), {}, {}, false, samples * size};
    }
    template <class Mixture>
    static mix_body<Mixture, T> image_mixing(Mixture const* drawn, stored_array<T> const& from,
                                             T* to, std::size_t first, std::ptrdiff_t samples,
                                             int channels, int height, int width) {
        std::ptrdiff_t const size = std::ptrdiff_t{channels} * height * width;
        return {drawn,           from,           to,
                first,           quotient(size), quotient(channels),
                quotient(width), true,           samples * size};
    }

    // Elements of region::workspace for an update by a rule of whole parameters: the directions,
    // and what makes them orthogonal.
    template <class Rule, int Slots, class Plan>
    static constexpr std::ptrdiff_t update_scratch(Plan const& plan) {
        using one = std::remove_cvref_t<decltype(rule_of_group(std::declval<Rule const&>(), 0))>;
        return (castnet::detail::has_direction<one, T, Slots> ? plan.trainable : 0) +
               (Orthogonalizes<Rule> ? cuda::orthogonalization_scratch<T>(plan) : 0);
    }

    static constexpr bool takes_epilogue(op product, epilogue const& e) {
        return cuda::takes_epilogue<T>(product, e);
    }
};

} // namespace castnet::cuda
