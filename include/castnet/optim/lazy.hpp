// Updates of the used rows of embeddings only, for any optimizer of single numbers:
//   compile(model, loss, lazy(adam{}));
#pragma once

#include <castnet/optim/wrapped.hpp>

#include <cstdint>

namespace castnet {

// An optimizer that passes over rows of embeddings without a gradient; see lazy().
template <class Optimizer>
struct lazily_updated : Optimizer {
    using lazy_optimizer = Optimizer;
    static constexpr char const* name = detail::name_of_wrapped<Optimizer, "lazy">::text.data();

    template <class T>
    struct rule : detail::rule_of<Optimizer, T> {
        using inner = detail::rule_of<Optimizer, T>;

        static constexpr bool is_lazy() { return true; }
        rule with_norm(double norm) const
            requires NeedsNorm<inner>
        {
            return {inner::with_norm(norm)};
        }
    };
    template <class T>
    rule<T> at(std::uint64_t step, double rate) const {
        return {Optimizer::template at<T>(step, rate)};
    }
};

// The optimizer that leaves each row of an embedding's table as it is, and its state, in steps in
// which the row's gradient is 0, since no sample has its id: PyTorch's SparseAdam (which
// adds epsilon before it corrects the second moment), TensorFlow's LazyAdam. So a step takes the
// time of the rows that it uses and not of the whole vocabulary. All other parameters are updated
// as always, and so are tables with a penalty. With adam and others that have a momentum or a
// weight decay these are other results than without lazy(): there, rows go on moving by their
// moments, and decay. (sgd and adagrad without weight decay are lazy by themselves, since their
// results are the same.) A table whose gradient has several sources (tied weights, several inputs,
// replicas, accumulate<n>) is searched for such rows. On CPUs; not with
// strategy::sharded_optimizer, nor with ema, lamb, muon and clip_each_norm, which need all rows.
template <class Optimizer>
lazily_updated<Optimizer> lazy(Optimizer const& optimizer) {
    static_assert(detail::groups_are_outermost<Optimizer>::checked);
    static_assert(detail::lazy_without_averages<Optimizer>::checked);
    return {optimizer};
}

} // namespace castnet
