// The samples of a step from a data set in the GPU's memory. Which data set and which samples they
// are is read from device memory, so a captured graph serves them all.
#pragma once

#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/quotient.hpp>
#include <castnet/plan/step.hpp>

#include <cstdint>

namespace castnet::cuda {

// One input or target of all samples of a data set, one sample after the other in the order of the
// device.
template <class T>
struct stored_array {
    unsigned char const* bytes = nullptr; // where it holds bytes
    T const* values = nullptr;            // the numbers; or what each of the 256 bytes stands for
};
inline constexpr int max_stored_arrays = 16;

// Where it goes.
template <class T>
struct gathered_array {
    T* to = nullptr;
    quotient size{}; // elements of a sample
    std::ptrdiff_t count = 0;
};

template <class T, int Arrays>
struct gather_body {
    stored_array<T> const* from;  // without values if there is nothing to gather
    std::uint32_t const* samples; // of each row, its number in the data set
    gathered_array<T> arrays[Arrays];

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for (int k = 0; k < Arrays; ++k) {
            gathered_array<T> const a = arrays[k];
            stored_array<T> const stored = from[k];
            if (stored.values == nullptr) {
                return;
            }
            for_each_index(block, a.count, [&](std::ptrdiff_t i) {
                std::uint32_t const row = a.size.divide(static_cast<std::uint32_t>(i));
                std::ptrdiff_t const place =
                    (std::ptrdiff_t{samples[row]} - row) * std::ptrdiff_t{a.size.divisor} + i;
                a.to[i] = stored.values[stored.bytes ? stored.bytes[place] : place];
            });
        }
    }
};

// All inputs of a plan, and then its targets.
template <auto const& Plan, class Context>
auto gather_call(Context const& c, stored_array<typename Context::value_type> const* from,
                 std::uint32_t const* samples) {
    using T = typename Context::value_type;
    constexpr int inputs = Plan.sizes.inputs, arrays = inputs + Plan.sizes.targets;
    static_assert(arrays <= max_stored_arrays,
                  "castnet: policy::cuda gathers at most 16 inputs and targets");
    gather_body<T, arrays> body{from, samples, {}};
    std::ptrdiff_t largest = 0;
    for (int k = 0; k < arrays; ++k) {
        array_ref const& r = k < inputs ? Plan.inputs[k] : Plan.targets[k - inputs];
        std::ptrdiff_t const count = Plan.batch * r.size.count();
        body.arrays[k] = {c.at(r), quotient(r.size.count()), count};
        largest = count > largest ? count : largest;
    }
    return kernel_call<gather_body<T, arrays>>{grid_for(largest), body};
}

} // namespace castnet::cuda
