// A block of nodes that is computed several times, each time with parameters of its own.
//
// Its nodes stand side by side and have its number; node::repeat is -1 outside. A block that goes
// back through block k, with its gradients, has the number graph::repeats.size() + k: from the last
// repetition to the first. The two are a pair: what the one stores in a repetition, the other reads
// in the same one.
#pragma once

#include <castnet/core/language.hpp>

namespace castnet::ir {

struct repeated_block {
    int count = 1; // repetitions
    // In the names of parameters, the part that numbers the repetitions, and how far it goes on
    // from one to the next.
    int name_part = 0, positions = 1;
    int random_streams = 0; // of a repetition
};

} // namespace castnet::ir
