// Lowering: one fused group as a straight-line program.
#pragma once

#include <castnet/graph/graph.hpp>
#include <castnet/plan/instruction.hpp>

#include <castnet/core/list.hpp>

namespace castnet {

// One fused group as instructions, and what it reads.
struct lowered {
    list<instruction> code;
    list<int> arrays;      // nodes
    list<double> scalars;
};

class lowering {
public:
    constexpr explicit lowering(graph const& g) : g_{g}, reg_{list<int>::filled(g.nodes.size(), -1)} {}

    // `members`: the functions of the group in ascending order; for a reduction of an array as it
    // is, none: then the program only reads x, the operand of the reduction.
    // The result lives until the next call.
    constexpr lowered& run(list<int> const& members, int x, extents space) {
        out_.code.clear();
        out_.arrays.clear();
        out_.scalars.clear();
        space_ = space;
        touched_.clear();
        for (int m : members) {
            apply(m);
        }
        if (members.empty()) {
            source(x);
        }
        for (int t : touched_) {
            reg_[t] = -1;
        }
        return out_;
    }

private:
    constexpr node const& at(int i) const { return g_.nodes[i]; }

    constexpr void define(int id, instruction const& x) {
        if (out_.code.size() >= no_register) {
            throw "castnet: too many instructions in one fused kernel";
        }
        reg_[id] = out_.code.size();
        touched_.push(id);
        out_.code.push(x);
    }

    constexpr std::uint8_t array(int id) {
        for (int k = 0; k < out_.arrays.size(); ++k) {
            if (out_.arrays[k] == id) {
                return static_cast<std::uint8_t>(k);
            }
        }
        out_.arrays.push(id);
        return static_cast<std::uint8_t>(out_.arrays.size() - 1);
    }

    constexpr std::uint8_t scalar(double value) {
        out_.scalars.push(value);
        return static_cast<std::uint8_t>(out_.scalars.size() - 1);
    }

    // Along which axes an array varies; 7 is a whole array, read in the order of the loop.
    constexpr std::uint8_t variation(extents size) const {
        if (size == space_) {
            return 7;
        }
        int const axes =
            (size.sample ? 1 : 0) | (size.pixels > 1 ? 2 : 0) | (size.channels > 1 ? 4 : 0);
        return static_cast<std::uint8_t>(axes);
    }

    constexpr int source(int id) {
        if (reg_[id] >= 0) {
            return reg_[id];
        }
        node const& n = at(id);
        instruction x;
        switch (n.kind) {
        case op::constant:
            x.code = opcode::constant;
            x.a = scalar(n.scalar);
            break;
        case op::index: x.code = opcode::index; break;
        case op::presence:
            x.code = opcode::presence;
            x.a = array(id);
            x.b = scalar(n.scalar);
            break;
        case op::bernoulli:
            x.code = opcode::bernoulli;
            x.a = scalar(n.scalar);
            x.b = scalar(n.attribute);
            break;
        default:
            x.code = opcode::load;
            x.a = array(id);
            x.b = variation(n.size);
            break;
        }
        define(id, x);
        return reg_[id];
    }

    constexpr void apply(int id) {
        node const& n = at(id);
        std::uint8_t r[max_operands + 1]{};
        for (int k = 0; k < n.operands; ++k) {
            r[k] = n.in[k] < 0 ? std::uint8_t{no_register}
                               : static_cast<std::uint8_t>(source(n.in[k]));
        }
        define(id, {opcode::apply, n.function, static_cast<std::int8_t>(n.derivative), r[0], r[1],
                    r[2], r[3], r[4], r[5], r[6], r[7], r[8]});
    }

    graph const& g_;
    list<int> reg_;
    list<int> touched_;
    extents space_;
    lowered out_;
};

} // namespace castnet
