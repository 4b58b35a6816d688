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
#include <castnet/graph/repeated_block.hpp>

namespace castnet::ir {

struct graph {
    list<node> nodes;
    list<window> windows;
    list<parameter> parameters;

    struct update { // a statistic and the node that is its next value
        int parameter;
        int value;
        bool alone; // nothing but this value reads the statistic, and that element by element
    };
    list<update> updates;
    list<repeated_block> repeats;

    mistake wrong{};      // the first that the trace came to
    bool training = true; // dropout drops and batch statistics are used
    bool unrolls = false; // repeat<N, block> is traced as N blocks
    bool in_cell = false; // the trace is in the cell of a loop over time
    int inputs = 0;
    int random_streams = 0;
    int scalars = 0;
    int loops = 0;   // over time
    int repeat = -1; // the repeated block that nodes belong to now
    int device = 0;  // where the trace places nodes now
    int devices = 1; // one more than the last that on<…> named
    scope path;

    // Whether layers compute as in training here; frozen ones always do as in evaluation.
    constexpr bool trains() const { return training && path.frozen == 0; }

    constexpr explicit graph(bool for_training) : training{for_training} { nodes.reserve(256); }

    constexpr int push(node const& n) {
        int const id = append(n);
        nodes[id].device = device;
        nodes[id].repeat = repeat;
        return id;
    }
    // A node that keeps its device and its block, as passes do that append all nodes anew.
    constexpr int append(node const& n) {
        nodes.push(n);
        return nodes.size() - 1;
    }

    template <class Shape>
    static constexpr node shaped(op kind, bool sample) {
        node n;
        n.kind = kind;
        n.size = space_of<Shape>;
        n.size.sample = sample;
        return n;
    }

    // The parameter that a node is, or a part of; nullptr for others.
    constexpr parameter const* parameter_at(int id) const {
        while (nodes.data()[id].kind == op::parameter_slice) {
            id = nodes.data()[id].in[0];
        }
        node const& n = nodes.data()[id];
        return n.kind == op::parameter ? &parameters[n.attribute] : nullptr;
    }

    // In all repetitions of its block.
    constexpr int count_of(parameter const& p) const {
        return p.count() * (p.repeat < 0 ? 1 : repeats[p.repeat].count);
    }

    // The trace goes on with something plausible; who uses the network says what is wrong.
    constexpr void report(mistake found) { wrong = wrong == mistake::none ? found : wrong; }
    constexpr void expect(bool right, mistake otherwise) {
        if (!right) {
            report(otherwise);
        }
    }

    constexpr int add_window(window const& w) {
        windows.push(w);
        return windows.size() - 1;
    }
};

} // namespace castnet::ir
