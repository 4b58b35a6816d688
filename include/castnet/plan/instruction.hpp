// A fused kernel as a straight-line program: every instruction writes the register of its own
// number. The type program<…> holds integers only, so it may cross a kernel launch, and two
// networks whose chains look alike share one kernel.
#pragma once

#include <castnet/graph/node.hpp>

namespace castnet::ir {

enum class opcode : std::uint8_t {
    load,        // operand a: which array; b: along which of samples 1, pixels 2, channels 4 it
                 // varies, 8 more where it is some channels of a wider array; c: 1 if it is
                 // bfloat16
    constant,    // a: which scalar
    index,       // the number of the channel
    sample_mask, // a: which array (one value per sample), b: which scalar to multiply it with
    bernoulli,   // a: which scalar is `keep`, b: which scalar numbers the random stream
    normal,      // b: which scalar numbers the random stream
    apply,       // function of registers a, b, c, …
    dot,   // array a, at this sample and pixel, times row `channel` of array b: the gradient by
           // the input of a product with few units; c: 1 if a is bfloat16, 2 more if b is
    store, // ends a program: register d is the result at this point; a: 1 for bfloat16; c: 1
           // if only one step of a loop is stored, 2 if as some channels of a wider array, 3 if at
           // the next step of a loop, 4 at the previous one, where there is one; e: 1 if it is the
           // gradient of a pixel of max pooling's result, and that of the image is stored: f:
           // which array has the winners
    reduce // ends a program: a: which reduction; b: what is kept of samples 1, pixels 2,
           // channels 4; c: as of store; d: of which register. On devices whose kernels can
           // do that, several stores or reductions end a program, with the same b and c, or
           // first a store and then reductions: its results, in order. (Different
           // reductions keep samples and no channels.) In a program by rows, e: one more than
    // the scalar that the result becomes, 0 for none; f: the same of its factor; b of a
    // store: 1 for one number of each row
};

struct instruction {
    opcode code{};
    fn function{};
    std::int8_t derivative = -1;
    std::uint8_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;

    // A number that tells most instructions apart.
    constexpr unsigned digest() const {
        return unsigned(code) + unsigned(function) * 31U + unsigned(derivative + 1) * 1009U +
               a * 7919U + b * 104729U + c * 1299709U;
    }
    // Whether axes may end anywhere: nothing is broadcast along pixels or channels.
    constexpr bool ignores_axes() const {
        return !(code == opcode::load && b != 7 && b != 0) && code != opcode::index &&
               code != opcode::sample_mask && code != opcode::dot;
    }
    // An operand that has one value for each channel, of all samples or of each.
    constexpr bool loads_channels() const { return code == opcode::load && (b == 4 || b == 5); }
    constexpr bool loads_channels_of_samples() const { return code == opcode::load && b == 5; }
    // Whether pixels may be channels of one row, in which operands of channels are repeated.
    constexpr bool joins_pixels() const {
        return code == opcode::load
                   ? b == 0 || b == 1 || b == 6 || b == 7 || (loads_channels() && c == 0)
                   : code != opcode::index;
    }
    // The same for a single sample, whose channels are those of all.
    constexpr instruction of_one_sample() const {
        instruction i = *this;
        i.b = loads_channels_of_samples() ? std::uint8_t{4} : b;
        return i;
    }
    friend constexpr bool operator==(instruction const&, instruction const&) = default;
};

// How many arrays and scalars one fused kernel may read.
inline constexpr int max_arrays = 24;
inline constexpr int max_scalars = 24;

// How many arrays one launch converts from bfloat16, or to it.
inline constexpr int most_converted = 16;

inline constexpr int no_register = 255; // an argument that the function does not read

CASTNET_HD constexpr bool is_end(instruction const& i) {
    return i.code == opcode::store || i.code == opcode::reduce;
}
CASTNET_HD constexpr bool is_drawn(instruction const& i) {
    return i.code == opcode::bernoulli || i.code == opcode::normal;
}
// A program is by rows if other instructions follow its first ends. These begin its next phase: a
// row of channels goes through one phase after the other, and what a phase reduces it to is known
// after it. Registers are numbered within a phase. What there is one of for each row is stored, or
// summed over the rows, at the row's first channel.
CASTNET_HD constexpr int phases_of(instruction const* code, int length) {
    int count = 0;
    for (int i = 0; i < length; ++i) {
        count += is_end(code[i]) && (i + 1 == length || !is_end(code[i + 1]));
    }
    return count;
}

template <instruction... I>
struct program {
    // Stores or reductions, which come last.
    static constexpr int results = (0 + ... + int(is_end(I)));
    static constexpr int length = int(sizeof...(I));
    static constexpr int size = length - results; // registers

    // The last instruction of result k: its store, or its reduction.
    CASTNET_HD static constexpr instruction end_of(int k) { return at(size + k); }
    CASTNET_HD static constexpr instruction at(int i) {
        instruction const all[] = {I...};
        return all[i];
    }
    static constexpr instruction end = end_of(results - 1);
    // Those of the results that are stored at every point: all, or the first before reductions.
    static constexpr int stores = (0 + ... + int(I.code == opcode::store));
    static constexpr bool reduces_alike = ((I.code != opcode::reduce || I.a == end.a) && ...);
    // Along what the array of result k, or the last one, varies, as of a load.
    CASTNET_HD static constexpr int stored_of(int k) {
        int const c = end_of(k).c;
        return c == 1 ? 5 : c == 2 ? 15 : 7;
    }
    static constexpr int stored = stored_of(results - 1);

    // How many loads vary along others than these axes.
    static constexpr int loads_beside(int axes) {
        return (0 + ... + int(I.code == opcode::load && (I.b & ~axes) != 0));
    }

    static constexpr int random_streams = (0 + ... + int(is_drawn(I)));
    // Which scalar numbers the stream of a program that has one.
    static constexpr int stream = (0 + ... + (is_drawn(I) ? I.b : 0));
    // It reads or stores bfloat16.
    static constexpr bool has_bf16 =
        (((I.code == opcode::load && I.c != 0) || (I.code == opcode::store && I.a != 0)) || ...);
    // All samples, pixels and channels may be one row of points.
    static constexpr bool flat =
        random_streams == 0 &&
        ((I.ignores_axes() && !(I.code == opcode::store && I.e != 0)) && ...);
    // All pixels of a sample may be.
    static constexpr bool joins_pixels = stored == 7 && (I.joins_pixels() && ...);
    static constexpr int channel_loads = (0 + ... + int(I.loads_channels()));
    static constexpr bool has_channels_of_samples = (I.loads_channels_of_samples() || ...);
    using of_one_sample = program<I.of_one_sample()...>;

    CASTNET_HD static constexpr int count_phases() {
        instruction const all[] = {I...};
        return phases_of(all, length);
    }
    static constexpr int phases = count_phases();

    // The store is the gradient of max pooling, by windows that tile the image.
    static constexpr bool spreads = ((I.code == opcode::store && I.e != 0) || ...);
};

} // namespace castnet::ir
