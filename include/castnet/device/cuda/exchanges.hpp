// The sums over replicas on other GPUs as work of a training step. What a step of the plan reads is
// added up on the step's stream; gradients, loss and metrics, which only the end needs, beside it.
//
// The connection to the other GPUs, `gpus`, has
//   void sum(std::span<std::span<T> const>, cudaStream_t, {what, number, step});
// which puts sums over the replicas on a stream, all of them as one operation.
#pragma once

#include <castnet/device/cuda/session.hpp>
#include <castnet/device/steps.hpp>
#include <castnet/plan/communication.hpp>

#include <span>
#include <vector>

namespace castnet::cuda {

// The last step that makes a result of the plan (loss, metrics).
template <class Plan>
constexpr int last_result(Plan const& p) {
    int last = 0;
    for (int i = 0; i < Plan::sizes.steps; ++i) {
        array_ref const& to = p.arrays[p.steps[i].output];
        for (array_ref const& r : p.outputs) {
            last = r.where == to.where && r.offset == to.offset ? i : last;
        }
    }
    return last;
}

// A stream beside that of a step.
struct side_stream {
    stream sums;
    event begin, end;
};

// All steps of a plan with their exchanges. Behind it the gradients and the results are those of
// all replicas. Unless the work is captured, the host waits for each sum before it goes on.
template <class Device, auto const& Plan, class Gpus>
void enqueue_with_exchanges(typename Device::context const& c, session const& where,
                            side_stream const& side, Gpus& gpus, std::uint64_t step) {
    using T = typename Device::value_type;
    using exchanges = communication_of<Plan, sizeof(T)>;
    constexpr int results_after = last_result(Plan);
    stream const& compute = where.compute();
    auto const wait = [&](stream const& s) {
        if (!compute.is_captured()) {
            where.wait(s);
        }
    };
    std::vector<std::span<T>> numbers;
    auto const add_results = [&] {
        for (array_ref const& r : Plan.outputs) {
            numbers.emplace_back(c.at(r), std::size_t(1));
        }
    };
    bool have_results = false;
    auto const exchange_beside = [&](char const* what, int number) {
        compute.record(side.begin);
        side.sums.wait_for(side.begin);
        gpus.sum(std::span<std::span<T> const>{numbers}, side.sums.get(), {what, number, step});
        wait(side.sums);
    };

    int next = 0, buckets = 0, sums = 0;
    auto const exchange_until = [&](int i) {
        for (; next < exchanges::exchange_count; ++next) {
            exchange const& e = exchanges::value.exchanges[next];
            if (e.after > i) {
                break;
            }
            numbers.clear();
            for (int k = e.first; k < e.last; ++k) {
                element_range const& r = exchanges::value.ranges[k];
                numbers.emplace_back(c.region[int(r.where)] + r.offset, std::size_t(r.count));
            }
            if (e.gradients) {
                if (!have_results && e.after >= results_after) {
                    have_results = true;
                    add_results();
                }
                exchange_beside("sum of gradients, bucket", buckets++);
            } else {
                gpus.sum(std::span<std::span<T> const>{numbers}, compute.get(),
                         {"sum over the batch", sums++, step});
                wait(compute);
            }
        }
    };
    Device::template run<Plan>(c, after_stages{exchange_until});
    if (!have_results) {
        numbers.clear();
        add_results();
        exchange_beside("sum of loss and metrics", -1);
    }
    side.sums.record(side.end);
    compute.wait_for(side.end);
}

} // namespace castnet::cuda
