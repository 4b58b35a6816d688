// Order in which the stages of a plan run: one after another, those of a repeated block once for
// each repetition.
#pragma once

#include <castnet/plan/kernel_launch.hpp>

namespace castnet::ir {

// Calls f(stage, repetition, position) in this order; so many launches run before the stage.
template <class F>
constexpr void for_each_stage(stage const* stages, int count, F const& f) {
    int position = 0;
    for (int first = 0, last = 0; first < count; first = last) {
        stage const& now = stages[first];
        do {
            ++last;
        } while (now.repeat >= 0 && last < count && stages[last].repeat == now.repeat);
        for (int k = 0; k < now.repetitions; ++k) {
            for (int i = first; i < last; ++i) {
                f(stages[i], now.last_repetition_first ? now.repetitions - 1 - k : k, position);
                position += stages[i].last - stages[i].first;
            }
        }
    }
}
constexpr bool is_last_repetition(stage const& s, int repetition) {
    return repetition == (s.last_repetition_first ? 0 : s.repetitions - 1);
}

template <class Plan, class F>
constexpr void for_each_stage(Plan const& p, F const& f) {
    for_each_stage(p.stages, Plan::sizes.stages, f);
}

} // namespace castnet::ir
