// Of two sequences of the same length, both are taken for one that comes step by step.
// expect: castnet: stateful_predictor computes one step of a sequence after the other
// expect: attention to another sequence that has the same length \(give it another one, or its
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct decode {
    constexpr auto operator()(auto x, auto memory) const {
        return cn::multi_head_attention<2>(x | cn::gru<4>.return_sequences(), memory);
    }
};
using decoder = cn::network<decode{}, cn::input<6, 4>, cn::input<6, 4>>;

void say(cn::model<decoder, cn::policy::cpu, cn::batch<1>> const& model) {
    cn::stateful_predictor one{model};
}
