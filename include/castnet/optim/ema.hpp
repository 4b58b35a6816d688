// Exponential moving average of the weights, for any optimizer:
//   auto training = compile(model, loss, ema(adam{}, 0.999));
//   training.fit(train, {.epochs = 10});
//   averaged_weights const now{training}; // train/averaged_weights.hpp
//   training.evaluate(test);
#pragma once

#include <castnet/optim/wrapped.hpp>

#include <cstdint>

namespace castnet {

// An optimizer that keeps averages of the parameters in its first slot; see ema().
template <class Optimizer>
struct averaging : Optimizer {
    using averaged_optimizer = Optimizer;
    double average_decay = 0.999;
    static constexpr char const* name = detail::name_of_wrapped<Optimizer, "ema">::text.data();
    static constexpr int slots = Optimizer::slots + 1;
    [[gnu::noinline]] auto hyperparameters() const {
        return detail::hyperparameters_and<Optimizer>(
            *this, {"average_decay", average_decay, hyperparameter::below_one});
    }
    static constexpr bool not_negative(int slot) {
        if constexpr (requires { Optimizer::not_negative(slot); }) {
            return slot > 0 && Optimizer::not_negative(slot - 1);
        } else {
            return false;
        }
    }

    template <class T>
    struct rule : detail::rule_of<Optimizer, T> {
        using inner = detail::rule_of<Optimizer, T>;
        T share; // of the new parameters in their average

        template <class V, class... Slot>
            requires detail::Updates<inner, V, Slot...>
        CASTNET_HD void operator()(V& p, V g, V& average, Slot&... slot) const {
            inner::operator()(p, g, slot...);
            average += share * (p - average);
        }
        template <class V, class... Slot>
            requires detail::Directs<inner, V, Slot...>
        CASTNET_HD V direction(V p, V g, V&, Slot&... slot) const {
            return inner::direction(p, g, slot...);
        }
        template <class V, class... Slot>
        CASTNET_HD void move(V& p, V direction, V& average, Slot&... slot) const {
            inner::move(p, direction, slot...);
            average += share * (p - average);
        }
        static constexpr bool is_lazy() { return false; } // averages move without a gradient
        CASTNET_HD rule with_norm(double norm) const
            requires NeedsNorm<inner>
        {
            return {inner::with_norm(norm), share};
        }
    };
    template <class T>
    rule<T> at(std::uint64_t step, double rate) const {
        return {Optimizer::template at<T>(step, rate), T(step == 1 ? 1 : 1 - average_decay)};
    }
};

// The optimizer with averages of all trained parameters: those after the first step, and after
// each of the others decay * average + (1 - decay) * parameter (PyTorch's AveragedModel with
// get_ema_multi_avg_fn(decay)). Costs one more slot. Training goes on with the parameters;
// averaged_weights evaluates, predicts and saves with the averages. The average of a parameter that
// is frozen from the first step on is the parameter, and waits while it is frozen later. Running
// statistics are not averaged. compile() throws castnet::error unless decay is from 0 to below 1.
template <class Optimizer>
averaging<Optimizer> ema(Optimizer const& optimizer, double decay = 0.999) {
    static_assert(detail::groups_are_outermost<Optimizer>::checked);
    static_assert(!detail::is_lazy<Optimizer> || detail::lazy_without_averages<Optimizer>::checked);
    return {optimizer, decay};
}

} // namespace castnet
