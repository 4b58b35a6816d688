// One kernel launch of a plan, as data.
#pragma once

#include <castnet/graph/node.hpp>
#include <castnet/plan/memory.hpp>

namespace castnet {

// Where an array lies and what it looks like.
struct array_ref {
    region where{};
    std::ptrdiff_t offset = 0; // elements
    extents size{};
};

struct step {
    op kind{};
    int program = -1;    // map, reduce: number of the fused program
    int output = 0;      // in plan::arrays
    int first_array = 0; // the operands, in plan::arrays
    int arrays = 0;
    int first_scalar = 0; // in plan::scalars
    int scalars = 0;
    int window = -1;         // in plan::windows
    int first_channel = 0;   // slice
    double factor = 1;       // reduce
    extents space{};         // map, reduce: the index space of the loop
    int scratch = -1;        // in plan::arrays; -1 for none
    bool image_from = false; // reshape: the operand is an image, its channels lie innermost
    bool image_to = false;
    std::ptrdiff_t flops = 0; // per sample, or in all where all samples share it
};

// The tables of a plan, without its sizes: what the numbers in a step stand for.
struct step_tables {
    array_ref const* arrays;
    double const* scalars;
    window const* windows;
};

} // namespace castnet
