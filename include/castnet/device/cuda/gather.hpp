// Gathering of a step's samples from a device-resident data set. The kernel reads the data set's
// address and the samples' indices from device memory, so one captured graph serves all of them.
#pragma once

#include <castnet/device/cuda/lanes.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/ir.hpp>
#include <castnet/device/quotient.hpp>

#include <cstdint>

namespace castnet::cuda {

// One input or target of all samples of a device-resident data set, in the device's layout.
template <class T>
struct stored_array {
    unsigned char const* bytes = nullptr; // for an array of bytes
    T const* values = nullptr;            // the values; for bytes, a table of 256

    CASTNET_HD T get(std::size_t i) const { return values[bytes ? bytes[i] : i]; }
};
inline constexpr int max_stored_arrays = 16;

// Destination of one input or target in the batch.
template <class T>
struct gathered_array {
    T* to = nullptr;
    quotient size{}; // elements of a sample
    std::ptrdiff_t count = 0;
};

template <class T, int Arrays>
struct gather_body {
    static constexpr int lanes = lanes_of<T>;

    stored_array<T> const* from;  // values are nullptr if nothing is gathered
    std::uint32_t const* samples; // index in the data set, per row
    gathered_array<T> arrays[Arrays];

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for (int k = 0; k < Arrays; ++k) {
            gathered_array<T> const a = arrays[k];
            stored_array<T> const stored = from[k];
            if (stored.values == nullptr) {
                return;
            }
            if (stored.bytes == nullptr && a.size.divisor % lanes == 0) {
                copy_lanes(block, stored.values, a);
            } else {
                store_each_index(block, a.count, a.to, [&](unsigned i) {
                    return stored.get(static_cast<std::size_t>(place_of(a, i)));
                });
            }
        }
    }

private:
    // Where the element that becomes number i of the batch lies in the data set.
    CASTNET_HD std::ptrdiff_t place_of(gathered_array<T> const& a, unsigned i) const {
        std::uint32_t const row = a.size.divide(i);
        return (std::ptrdiff_t{samples[row]} - row) * std::ptrdiff_t{a.size.divisor} +
               std::ptrdiff_t{i};
    }
    // Of samples that consist of whole groups.
    template <class Block>
    CASTNET_HD void copy_lanes(Block const& block, T const* values,
                               gathered_array<T> const& a) const {
        unsigned const end = static_cast<unsigned>(a.count),
                       step = lanes * block.threads() * block.blocks();
        CASTNET_NO_UNROLL
        for (unsigned i = lanes * (block.index() * block.threads() + block.thread()); i < end;
             i += step) {
            T lane[lanes];
            load_lanes(values + place_of(a, i), lane);
            store_lanes(lane, a.to + i);
        }
    }
};

// Arrays of all inputs of a plan, then of its targets.
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
    constexpr int lanes = gather_body<T, arrays>::lanes;
    return kernel_call<gather_body<T, arrays>>{grid_for((largest + lanes - 1) / lanes), body};
}

} // namespace castnet::cuda
