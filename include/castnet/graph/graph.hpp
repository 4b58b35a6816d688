// The graph of a network: nodes in the order of their computation, each after its operands.
//
// A graph lives only while the compiler evaluates constant expressions; what the program needs at
// run time is copied from it into a plan (plan/plan.hpp).
#pragma once

#include <castnet/core/list.hpp>
#include <castnet/core/shape.hpp>
#include <castnet/graph/mistake.hpp>
#include <castnet/graph/node.hpp>
#include <castnet/graph/parameter.hpp>

namespace castnet::ir {

struct graph {
    list<node> nodes;
    list<window> windows;
    list<parameter> parameters;

    struct update { // a running statistic and the node that is its next value
        int parameter;
        int value;
    };
    list<update> updates;

    mistake wrong{};      // the first that the trace came to
    bool training = true; // dropout drops and batch statistics are used
    int inputs = 0;
    int random_streams = 0;
    int scalars = 0;
    int device = 0;  // where the trace places nodes now
    int devices = 1; // one more than the last that on<…> named
    scope path;

    constexpr explicit graph(bool for_training) : training{for_training} { nodes.reserve(256); }

    constexpr int push(node const& n) {
        nodes.push(n);
        nodes.back().device = device;
        return nodes.size() - 1;
    }

    template <class Shape>
    static constexpr node shaped(op kind, bool sample) {
        static_assert(Shape::rank <= 4, "castnet: a sample has at most four axes");
        node n;
        n.kind = kind;
        n.rank = static_cast<int>(Shape::rank);
        for (int i = 0; i < n.rank; ++i) {
            n.dims[i] = static_cast<int>(Shape::extent[i]);
        }
        n.size.sample = sample;
        n.size.channels = Shape::rank == 0   ? 1
                          : Shape::rank == 3 ? n.dims[0]
                                             : n.dims[Shape::rank - 1];
        n.size.pixels = static_cast<int>(Shape::count) / n.size.channels;
        return n;
    }

    // The trace goes on with something plausible; who uses the network says what is wrong.
    constexpr void report(mistake found) { wrong = wrong == mistake::none ? found : wrong; }

    constexpr int add_window(window const& w) {
        windows.push(w);
        return windows.size() - 1;
    }
};

} // namespace castnet::ir
