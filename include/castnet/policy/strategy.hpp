// Data-parallel strategies: how replicas share the work of a step. They are further arguments of
// policy::mirrored and policy::distributed, in any order,
//   policy::mirrored<policy::cpu, 4, strategy::sharded_optimizer, strategy::accumulate<8>>
// and do not change the steps, up to rounding, except where a strategy below says so.
#pragma once

#include <castnet/core/text.hpp>

#include <string>
#include <type_traits>

namespace castnet {

namespace strategy {

// Every replica gets the sums of all gradients and updates all parameters: the default.
struct all_reduce {};

// Rank 0 gets the gradients of all replicas, updates the parameters and sends them to the others
// (what Keras' multi_gpu_model did with cpu_merge).
struct parameter_server {};

// Every replica gets the sums of a part of the gradients, updates this part of the parameters and
// sends it to all; it keeps the optimizer's state of this part only (ZeRO stage 1, Rajbhandari et
// al. 2020; PyTorch's ZeroRedundancyOptimizer).
struct sharded_optimizer {};

// Gradients are rounded to bfloat16 before they are sent, and so are their sums (PyTorch's
// bf16_compress_hook). A sum over n replicas is off by at most (1 + ceil(log2 n)) / 256 of the sum
// of the absolute values; by NCCL, n / 256.
struct bfloat16_gradients {};

// Gradient accumulation: a step takes up to MicroBatches times as many samples. Replicas compute
// this number of batches one after the other and add up their gradients, which they exchange once.
// Batch normalisation has statistics for each of the batches, over all replicas.
template <int MicroBatches>
struct accumulate {};

// Batch normalisation uses the statistics of each replica's own samples (as DistributedDataParallel
// without SyncBatchNorm), so steps differ from those with the statistics of all samples; so do
// batch_mean and batch_sum. After every batch, the statistics of all replicas are replaced by their
// mean, weighted by the number of samples of each.
struct local_batch_norm {};

} // namespace strategy

namespace detail {

template <class Option>
struct micro_batches_of {
    static constexpr bool given = false;
    static constexpr int count = 1;
};
template <int K>
struct micro_batches_of<strategy::accumulate<K>> {
    static_assert(K >= 1, "castnet: accumulate<K> needs at least one batch in a step");
    static constexpr bool given = true;
    static constexpr int count = K;
};

template <class... Options>
struct strategies {
    template <class Option>
    static constexpr int times = (0 + ... + int(std::is_same_v<Option, Options>));

    static constexpr bool parameter_server = times<strategy::parameter_server> > 0;
    static constexpr bool sharded_optimizer = times<strategy::sharded_optimizer> > 0;
    static constexpr bool bfloat16_gradients = times<strategy::bfloat16_gradients> > 0;
    static constexpr bool local_batch_norm = times<strategy::local_batch_norm> > 0;
    static constexpr int micro_batches = (1 * ... * micro_batches_of<Options>::count);
    // All replicas update all parameters.
    static constexpr bool updates_all = !parameter_server && !sharded_optimizer;

    static_assert(
        times<strategy::all_reduce> + times<strategy::parameter_server> +
                times<strategy::sharded_optimizer> <=
            1,
        "castnet: a policy takes only one of strategy::all_reduce, strategy::parameter_server "
        "and strategy::sharded_optimizer");
    static_assert((0 + ... + int(micro_batches_of<Options>::given)) <= 1,
                  "castnet: a policy takes only one strategy::accumulate");
    static_assert(times<strategy::all_reduce> + parameter_server + sharded_optimizer +
                          bfloat16_gradients + local_batch_norm +
                          (0 + ... + int(micro_batches_of<Options>::given)) ==
                      int(sizeof...(Options)),
                  "castnet: the arguments after a policy's number of replicas must be different "
                  "types of castnet::strategy");

    // For messages.
    static std::string text() {
        std::string s = parameter_server    ? "parameter_server"
                        : sharded_optimizer ? "sharded_optimizer"
                                            : "all_reduce";
        s += bfloat16_gradients ? ", bfloat16_gradients" : "";
        s += local_batch_norm ? ", local_batch_norm" : "";
        if (micro_batches > 1) {
            append(s, {", accumulate<", micro_batches, '>'});
        }
        return s;
    }

    template <class... More>
    using with = strategies<Options..., More...>;
};

// The same with so many times as many batches in a step, of an optimizer that accumulates.
template <class Strategies, int Batches>
struct accumulating : Strategies {
    static constexpr int micro_batches = Strategies::micro_batches * Batches;

    static std::string text() {
        return string_of({Strategies::text(), ", accumulate<", Batches, "> of the optimizer"});
    }
};
template <class Strategies, int Batches>
using with_batches =
    std::conditional_t<Batches == 1, Strategies, accumulating<Strategies, Batches>>;

template <class Where>
struct strategy_of_policy {
    using type = strategies<>;
};
template <class Where>
    requires requires { typename Where::strategies; }
struct strategy_of_policy<Where> {
    using type = typename Where::strategies;
};
template <class Where>
using strategy_of = typename strategy_of_policy<Where>::type;

} // namespace detail
} // namespace castnet
