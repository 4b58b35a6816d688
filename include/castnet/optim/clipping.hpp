// Gradient clipping, for any optimizer:
//   compile(model, loss, clip_norm(adam{.learning_rate = 1e-3}, 1));
//
// The gradient is clipped before the optimizer's rule gets it: that of the mean loss over all
// samples of the step, in all replicas and micro-batches, with the penalties of the layers (l1, l2)
// but without the optimizer's own weight decay. training::gradient() returns the unclipped one.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/optim/wrapped.hpp>

#include <limits>

namespace castnet {

namespace detail {

template <class Optimizer>
inline constexpr bool is_clipped = requires { typename Optimizer::clipped_optimizer; };

template <bool Once, class Optimizer>
struct clips_once {
    static_assert(Once, "castnet: clip_norm, clip_each_norm and clip_value: a gradient is clipped "
                        "once, and this optimizer clips it already");
    static constexpr bool checked = true;
};

[[gnu::noinline]] inline void check_limit(char const* call, char const* what, double limit) {
    if (!(limit > 0 && limit <= std::numeric_limits<double>::max())) {
        throw error(
            {"castnet: ", call, ": ", what, " is ", limit, ", expected a finite number above 0"});
    }
}

// A rule that gets clip(g) for a gradient g.
template <class Rule, class Clip>
struct clipped_rule : Rule {
    Clip clip;

    template <class V, class... Slot>
        requires Updates<Rule, V, Slot...>
    CASTNET_HD void operator()(V& p, V g, Slot&... slot) const {
        Rule::operator()(p, clip(g), slot...);
    }
    template <class V, class... Slot>
        requires Directs<Rule, V, Slot...>
    CASTNET_HD V direction(V p, V g, Slot&... slot) const {
        return Rule::direction(p, clip(g), slot...);
    }
};

template <class T>
struct scale_gradient {
    T factor = 1;

    template <class V>
    CASTNET_HD V operator()(V g) const {
        return g * factor;
    }
};

template <class T>
struct clamp_gradient {
    T most;

    template <class V>
    CASTNET_HD V operator()(V g) const {
        V const top = V{} + most, bottom = V{} - most;
        return g > top ? top : g < bottom ? bottom : g;
    }
};

} // namespace detail

// An optimizer with gradients of at most this norm; see clip_norm().
template <class Optimizer>
struct norm_clipped : Optimizer {
    using clipped_optimizer = Optimizer;
    double max_norm = 1;
    static constexpr char const* name =
        detail::name_of_wrapped<Optimizer, "clip_norm">::text.data();
    [[gnu::noinline]] auto hyperparameters() const {
        return detail::hyperparameters_and<Optimizer>(*this, {"max_norm", max_norm});
    }

    template <class T>
    struct rule : detail::clipped_rule<detail::rule_of<Optimizer, T>, detail::scale_gradient<T>> {
        double max_norm;

        CASTNET_HD rule with_norm(double norm) const {
            double const ratio = max_norm / (norm + 1e-6);
            rule scaled = *this;
            scaled.clip.factor = static_cast<T>(ratio > 1 ? 1.0 : ratio);
            return scaled;
        }
    };
    template <class T>
    rule<T> at(std::uint64_t step, double rate) const {
        return {{Optimizer::template at<T>(step, rate), {}}, max_norm};
    }
};

// An optimizer with gradients of each parameter of at most this norm; see clip_each_norm().
template <class Optimizer>
struct each_norm_clipped : Optimizer {
    using clipped_optimizer = Optimizer;
    double max_norm = 1;
    static constexpr char const* name =
        detail::name_of_wrapped<Optimizer, "clip_each_norm">::text.data();
    [[gnu::noinline]] auto hyperparameters() const {
        return detail::hyperparameters_and<Optimizer>(*this, {"max_norm", max_norm});
    }

    template <class T>
    struct rule : detail::clipped_rule<detail::rule_of<Optimizer, T>, detail::scale_gradient<T>> {
        static constexpr bool by_parameter = true;
        double max_norm;

        CASTNET_HD void set_gradient_norm(double norm) { // of the parameter
            this->clip.factor = static_cast<T>(norm > max_norm ? max_norm / norm : 1);
        }
    };
    template <class T>
    rule<T> at(std::uint64_t step, double rate) const {
        return {{Optimizer::template at<T>(step, rate), {}}, max_norm};
    }
};

// An optimizer with gradients whose elements are at most max_value; see clip_value().
template <class Optimizer>
struct value_clipped : Optimizer {
    using clipped_optimizer = Optimizer;
    double max_value = 1;
    static constexpr char const* name =
        detail::name_of_wrapped<Optimizer, "clip_value">::text.data();
    [[gnu::noinline]] auto hyperparameters() const {
        return detail::hyperparameters_and<Optimizer>(*this, {"max_value", max_value});
    }

    template <class T>
    using rule = detail::clipped_rule<detail::rule_of<Optimizer, T>, detail::clamp_gradient<T>>;
    template <class T>
    rule<T> at(std::uint64_t step, double rate) const {
        return {Optimizer::template at<T>(step, rate), {static_cast<T>(max_value)}};
    }
};

// The optimizer with the whole gradient multiplied by min(1, max_norm / (norm + 1e-6)), where norm
// is the Euclidean norm over all trained parameters together: PyTorch's clip_grad_norm_, Keras'
// global_clipnorm. As in PyTorch, an infinite norm makes finite elements 0, and a NaN norm makes
// all elements NaN. Throws castnet::error unless max_norm is finite and above 0.
template <class Optimizer>
norm_clipped<Optimizer> clip_norm(Optimizer const& optimizer, double max_norm) {
    static_assert(detail::groups_are_outermost<Optimizer>::checked);
    static_assert(detail::clips_once<!detail::is_clipped<Optimizer>, Optimizer>::checked);
    detail::check_limit("clip_norm", "the largest norm", max_norm);
    return {optimizer, max_norm};
}

// The same with a norm for each parameter: its gradient becomes one of at most this norm, Keras'
// clipnorm. Not with strategy::sharded_optimizer.
template <class Optimizer>
each_norm_clipped<Optimizer> clip_each_norm(Optimizer const& optimizer, double max_norm) {
    static_assert(detail::groups_are_outermost<Optimizer>::checked);
    static_assert(detail::clips_once<!detail::is_clipped<Optimizer>, Optimizer>::checked);
    detail::check_limit("clip_each_norm", "the largest norm", max_norm);
    return {optimizer, max_norm};
}

// The optimizer with every element of the gradient brought into [-max_value, max_value]: PyTorch's
// clip_grad_value_, Keras' clipvalue. An element that is NaN stays NaN. Throws castnet::error
// unless max_value is finite and above 0.
template <class Optimizer>
value_clipped<Optimizer> clip_value(Optimizer const& optimizer, double max_value) {
    static_assert(detail::groups_are_outermost<Optimizer>::checked);
    static_assert(detail::clips_once<!detail::is_clipped<Optimizer>, Optimizer>::checked);
    detail::check_limit("clip_value", "the largest value", max_value);
    return {optimizer, max_value};
}

} // namespace castnet
