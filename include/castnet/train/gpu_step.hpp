// Training step of one of several replicas on GPUs. Sums that a launch of the plan reads are made
// on the step's stream; gradients, loss and metrics, which only the step's end needs, on another.
#pragma once

#include <castnet/core/bfloat16.hpp>
#include <castnet/device/cuda/convert.hpp>
#include <castnet/device/cuda/enqueue.hpp>
#include <castnet/device/cuda/gradients.hpp>
#include <castnet/device/cuda/session.hpp>
#include <castnet/device/launches.hpp>
#include <castnet/optim/optimizer.hpp>
#include <castnet/train/exchanging_step.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>

namespace castnet {
namespace detail {

// The last launch, in the order in which they run, that computes an output of the plan (loss,
// metrics).
template <class Plan>
constexpr int last_result(Plan const& p) {
    int last = 0;
    ir::for_each_stage(p, [&](ir::stage const& g, int, int position) {
        for (int i = g.first; i < g.last; ++i) {
            ir::kernel_launch const& s = p.launch(i);
            for (int k = s.output; k < s.output + s.results; ++k) {
                ir::array_ref const& to = p.array(k);
                for (ir::array_ref const& r : p.outputs) {
                    bool const is_result = r.where == to.where && r.offset == to.offset;
                    last = is_result ? position + i - g.first : last;
                }
            }
        }
    });
    return last;
}

// A second stream for collectives concurrent with a step.
struct side_stream {
    cuda::stream sums;
    cuda::event begin, end;
};

// The work of a step and its collectives, put on streams. Unless it is captured, the host waits for
// each collective. The connection to the other GPUs has rank(), size(), and
//   void together(cudaStream_t, {what, number, step}, calls);
// which enqueues the collectives of calls(all) on the stream, as one operation:
//   all.sum(std::span<T>);             all-reduce
//   all.reduce(std::span<T>, owners);  reduce-scatter: every owner gets the sums of its part
//   all.share(std::span<T>, owners);   all-gather: every replica gets every part from its owner
template <class Device, class Exchanges, class Gpus>
class gpu_collectives {
    using T = typename Device::value_type;
    using context = typename Device::context;
    using compiled = typename Exchanges::compiled;
    using strategy = typename Exchanges::strategy;

public:
    gpu_collectives(context const& c, cuda::session const& where, side_stream const& side,
                    Gpus& gpus, std::uint64_t step)
        : c_{c}, beside_{c}, session_{where}, side_{side}, gpus_{gpus}, step_{step} {
        beside_.stream = side.sums.get();
    }

    // Enqueues all launches of the plan. Afterwards loss and metrics are those of all replicas, and
    // with the last samples of the step the gradients are those of all samples, on the replicas
    // that need them.
    void run(bool is_last) {
        constexpr int results_after = last_result(compiled::value);
        auto const all = Exchanges::all();
        std::size_t next = 0;
        bool have_results = false;
        auto const exchange_until = [&](int i) {
            for (; next < all.size() && all[next].after <= i; ++next) {
                ir::exchange const& e = all[next];
                if (!e.gradients) {
                    sum_what_is_read(e);
                } else if (is_last) {
                    bool const with_results = !have_results && e.after >= results_after;
                    have_results = have_results || with_results;
                    exchange_bucket(e, with_results);
                }
            }
        };
        Device::template run<compiled::value>(c_, ir::after_stages{exchange_until});
        if (!have_results) {
            go_beside();
            together(side_.sums, "sum of loss and metrics", -1,
                     [&](auto const& others) { sum_results(others); });
        }
        side_.sums.record(side_.end);
        compute().wait_for(side_.end);
        if constexpr (strategy::micro_batches > 1) {
            if (is_last) { // those that needed no exchange
                launch(c_, cuda::take_kept_body<T>{gradients(), kept(), compiled::value.trainable});
            } else {
                launch(c_, cuda::keep_body<T>{gradients(), kept(), compiled::value.trainable});
            }
        }
    }

    // Applies the optimizer's rule; afterwards all replicas have the same parameters.
    template <class Rule>
    void update(cuda::update_values<Rule, T>* values, cuda::update_tables const& tables) {
        if constexpr (NeedsNorm<Rule>) {
            find_norm(values, tables.penalties, tables.squares);
        }
        auto const update_all = [&] {
            cuda::enqueue_update<compiled::value, Exchanges::slots>(c_, values, tables);
        };
        if constexpr (strategy::updates_all) {
            update_all();
        } else {
            auto const who = Exchanges::updated_by();
            auto const mine = own_part();
            if constexpr (!ByParameter<Rule>) {
                launch(cuda::update_call<compiled::value, Exchanges::slots>(
                    c_, values, tables.penalties, std::ptrdiff_t(mine.first),
                    std::ptrdiff_t(mine.last),
                    std::ptrdiff_t(Exchanges::slot_elements(gpus_.size()))));
            } else if (mine.count() > 0) { // all of them
                update_all();
            }
            together(
                compute(), "parameters from those who updated them", -1, [&](auto const& others) {
                    others.share(
                        std::span{c_.region[int(ir::region::parameters)], Exchanges::trained}, who);
                });
        }
    }

private:
    cuda::stream const& compute() const { return session_.compute(); }
    T* gradients() const { return c_.region[int(ir::region::gradients)]; }
    T* kept() const { return gradients() + Exchanges::kept_at(gpus_.size()); }
    std::span<T> numbers(ir::element_range const& r) const {
        return {c_.region[int(r.where)] + r.offset, std::size_t(r.count)};
    }

    template <class Body>
    static void launch(context const& c, Body const& body) {
        c.launch(cuda::grid_for(body.count), body);
    }
    template <class Body>
    void launch(cuda::kernel_call<Body> const& call) const {
        c_.launch(call.where, call.body);
    }

    // The parameters that this replica updates.
    auto own_part() const {
        return Exchanges::updated_by().of(Exchanges::trained, gpus_.rank(), gpus_.size());
    }

    // The sum of squares of this replica's gradients, or with a sharded optimizer of all shards'.
    template <class Rule>
    void find_norm(cuda::update_values<Rule, T>* values, cuda::penalized_range const* penalties,
                   double* squares) {
        std::ptrdiff_t first = 0, last = compiled::value.trainable;
        if constexpr (strategy::sharded_optimizer) {
            auto const mine = own_part();
            first = std::ptrdiff_t(mine.first);
            last = std::ptrdiff_t(mine.last);
        }
        launch(cuda::squares_call<Device, compiled::value>(c_, &values->scale, penalties, squares,
                                                           first, last));
        if constexpr (strategy::sharded_optimizer) {
            together(compute(), "sum of squares of gradients", -1,
                     [&](auto const& others) { others.sum(std::span{squares, 1}); });
        }
        launch(cuda::norm_call(values, squares));
    }

    template <class F>
    void together(cuda::stream const& s, char const* what, int number, F const& calls) const {
        gpus_.together(s.get(), {what, number, step_}, calls);
        if (!compute().is_captured()) {
            session_.wait(s);
        }
    }
    // The side stream waits for the step's work so far.
    void go_beside() const {
        compute().record(side_.begin);
        side_.sums.wait_for(side_.begin);
    }

    void sum_what_is_read(ir::exchange const& e) {
        auto const ranges = Exchanges::ranges_of(e);
        if constexpr (strategy::local_batch_norm) {
            for (ir::element_range const& r : ranges) {
                launch(c_, cuda::weigh_body<T>{numbers(r).data(), c_.now, r.count});
            }
        }
        char const* const what = e.statistics ? "mean of running statistics" : "sum over the batch";
        together(compute(), what, sums_++, [&](auto const& others) {
            for (ir::element_range const& r : ranges) {
                others.sum(numbers(r));
            }
        });
    }

    void exchange_bucket(ir::exchange const& e, bool with_results) {
        auto const ranges = Exchanges::ranges_of(e);
        go_beside();
        if constexpr (strategy::micro_batches > 1) {
            for (ir::element_range const& r : ranges) {
                launch(beside_,
                       cuda::take_kept_body<T>{numbers(r).data(), kept() + r.offset, r.count});
            }
        }
        if constexpr (strategy::bfloat16_gradients) {
            for_each_rounded(ranges, [&](ir::element_range const& r, std::span<bfloat16> to) {
                launch(beside_, cuda::converting(numbers(r).data(), to.data(), r.count));
            });
        }
        together(side_.sums, "sum of gradients, bucket", buckets_++, [&](auto const& others) {
            if constexpr (strategy::bfloat16_gradients) {
                for_each_rounded(ranges,
                                 [&](ir::element_range const& r, std::span<bfloat16> values) {
                                     sum_gradients(others, r, values);
                                 });
            } else {
                for (ir::element_range const& r : ranges) {
                    sum_gradients(others, r, numbers(r));
                }
            }
            if (with_results) {
                sum_results(others);
            }
        });
        if constexpr (strategy::bfloat16_gradients) {
            for_each_rounded(ranges, [&](ir::element_range const& r, std::span<bfloat16> from) {
                launch(beside_, cuda::converting(from.data(), numbers(r).data(), r.count));
            });
        }
    }
    // f(range, where its numbers are rounded)
    template <class F>
    void for_each_rounded(std::span<ir::element_range const> ranges, F const& f) const {
        auto* to = reinterpret_cast<bfloat16*>(gradients() + Exchanges::rounded_at(gpus_.size()));
        for (ir::element_range const& r : ranges) {
            f(r, std::span{to, std::size_t(r.count)});
            to += r.count;
        }
    }
    template <class Others, class Number>
    static void sum_gradients(Others const& others, ir::element_range const& r,
                              std::span<Number> values) {
        if constexpr (strategy::updates_all) {
            others.sum(values);
        } else {
            auto const piece = Exchanges::piece_of(r);
            others.reduce(values, Exchanges::updated_by({&piece, 1}));
        }
    }
    template <class Others>
    void sum_results(Others const& others) const {
        for (ir::array_ref const& r : compiled::value.outputs) {
            others.sum(std::span{c_.at(r), std::size_t(r.size.count())});
        }
    }

    context const& c_;
    context beside_; // on the side stream
    cuda::session const& session_;
    side_stream const& side_;
    Gpus& gpus_;
    std::uint64_t step_;
    int buckets_ = 0, sums_ = 0;
};

} // namespace detail

// The engine of replicas on GPUs (train/exchanging_step.hpp).
template <class Device, class Exchanges>
class gpu_step {
    using T = typename Device::value_type;
    using compiled = typename Exchanges::compiled;

public:
    using executor = typename Device::executor;
    static constexpr bool sums_totals = true;

    explicit gpu_step(int) {}

    // No GPU works while another one loads code, allocates or captures, since that may wait for all
    // work of the process.
    template <class Communicator, class Rule>
    void train(executor& e, Communicator& others, samples_of_step const& now, std::uint64_t step,
               Rule const& rule, T scale) {
        auto& gpus = e.connect(others);
        using collectives =
            detail::gpu_collectives<Device, Exchanges, std::remove_reference_t<decltype(gpus)>>;
        if (!side_) {
            side_ = std::make_unique<detail::side_stream>();
        }
        e.set_first_sample(std::uint32_t(now.first));
        e.set_share(now.share);
        e.template train_among<compiled::value>(
            now.is_last, step, rule, scale,
            [&](auto const& c, cuda::session const& where) {
                collectives{c, where, *side_, gpus, step}.run(now.is_last);
            },
            [&](auto const& c, cuda::session const& where, auto* values,
                cuda::update_tables const& tables) {
                collectives{c, where, *side_, gpus, step}.update(values, tables);
            },
            [&] { others.meet({"begin of a step", -1, step}); });
        gpus.doing({"sums of a captured step", -1, step});
    }

private:
    std::unique_ptr<detail::side_stream> side_;
};

template <class Device, class Exchanges>
struct exchanging_step_of<Device, Exchanges, true> {
    using type = gpu_step<Device, Exchanges>;
};

} // namespace castnet
