// Executor of plans on the CPU, with one block of memory. This is the host's memory, so nothing is
// copied.
#pragma once

#include <castnet/core/philox.hpp>
#include <castnet/device/cpu/memory.hpp>
#include <castnet/device/cpu/messages.hpp>
#include <castnet/device/cpu/parameter_update.hpp>
#include <castnet/device/executor_sizes.hpp>
#include <castnet/device/host_memory.hpp>
#include <castnet/device/ir.hpp>
#include <castnet/optim/optimizer.hpp>
#include <castnet/plan/communication.hpp>
#include <castnet/plan/statistics.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace castnet::cpu::inline CASTNET_TARGET {

// Session on the device.
struct session : host_memory {
    template <class Policy>
    explicit session(Policy, int) {}
};

template <class Device>
class executor {
    using T = typename Device::value_type;

public:
    static constexpr bool in_host_memory = true;

    static constexpr std::size_t bytes(executor_sizes const& z) {
        return std::size_t(z.all()) * sizeof(T);
    }

    executor(session, T* parameters, philox_key key, executor_sizes const& z)
        : arena_{bytes(z), bytes(z) - std::size_t(z.workspace) * sizeof(T)} {
        T* const start = arena_.template as<T>();
        context_.region[int(region::parameters)] = parameters;
        context_.region[int(region::gradients)] = start;
        context_.region[int(region::batch)] = start + z.gradients + z.state;
        context_.region[int(region::workspace)] = at(region::batch) + z.batch;
        context_.key = key;
    }

    std::size_t allocated_bytes() const { return arena_.bytes(); }

    // Called once, for the plans that will run, and the rule of the training.
    template <class Rule, auto const&... Plan>
    [[gnu::noinline]] void prepare(std::size_t) {
        update_.template add_tables<Plan...>(context_);
    }

    // Sets region::prepared, which executors of the same plan may share.
    void use_prepared(T* memory) { context_.region[int(region::prepared)] = memory; }

    // Computes what the plan keeps there, before its first run and when parameters have changed.
    template <auto const& Plan>
    void prepare_parameters() {
        Device::template prepare<Plan>(context_);
    }

    // Addresses in the device's memory.
    T* at(region r) const { return context_.region[int(r)]; }
    T* at(array_ref const& r) const { return context_.at(r); }

    // Memory for region::batch of the next run.
    T* batch() { return at(region::batch); }

    // Index of this replica's first sample in the batch of all replicas.
    void set_first_sample(std::uint32_t first) { context_.first_sample = first; }

    // Runs a plan over the batch; `step` selects dropout's random numbers.
    template <auto const& Plan, class... After>
    void run(std::ptrdiff_t samples, std::uint64_t step, After const&... after) {
        context_.samples = samples;
        context_.step = static_cast<std::uint32_t>(step);
        context_.backwards = !context_.backwards;
        Device::template run<Plan>(context_, after...);
    }

    // Sets the groups of the plan's parameters (plan/penalties.hpp).
    template <auto const& Plan>
    void set_groups(std::span<update_group const> groups) {
        update_.set_groups(groups);
    }

    // As of parameter_update.
    template <auto const& Plan>
    double squares(T scale, std::ptrdiff_t first, std::ptrdiff_t last) const {
        return update_.template squares<Plan>(context_, scale, first, last);
    }
    template <auto const& Plan, int Slots, class Rule>
    void update(Rule const& rule, T scale, std::ptrdiff_t first, std::ptrdiff_t last,
                std::ptrdiff_t slot_stride) {
        update_.template update<Plan, Slots>(context_, rule, scale, first, last, slot_stride);
    }
    // The same for all parameters.
    template <auto const& Plan, int Slots, class Rule>
    void update(Rule const& rule, T scale) {
        update<Plan, Slots>(rule, scale, 0, Plan.trainable, Plan.trainable);
    }

    // Adds the outputs of a plan's last run, one after the other, to the totals.
    template <auto const& Plan>
    void add_totals() {
        std::size_t next = 0;
        for (array_ref const& r : Plan.outputs) {
            T const* const result = at(r);
            std::size_t const first = next;
            next += std::size_t(r.size.count());
            totals_.resize(std::max(totals_.size(), next));
            for (std::size_t i = first; i < next; ++i) {
                totals_[i] += double(result[i - first]);
            }
        }
    }

    // Adds these gradients to others that are kept `place` elements after them, unless they are
    // the first ones, for the last batch of a step; which takes them, and leaves zeros.
    void keep_gradients(std::ptrdiff_t place, element_range const& r, bool are_first) {
        T const* const from = at(r.where) + r.offset;
        T* const kept = at(r.where) + r.offset + place;
        for (std::ptrdiff_t i = 0; i < r.count; ++i) {
            kept[i] = are_first ? from[i] : kept[i] + from[i];
        }
    }
    void take_kept(std::ptrdiff_t place, element_range const& r) {
        T* const to = at(r.where) + r.offset;
        T* const kept = at(r.where) + r.offset + place;
        update_.forget_rows(r.where);
        for (std::ptrdiff_t i = 0; i < r.count; ++i) {
            to[i] += std::exchange(kept[i], T(0));
        }
    }

    // Keeps the plan's running statistics and the totals, for a step that may not come to its end;
    // and brings them back.
    template <auto const& Plan>
    void keep_statistics() {
        kept_.clear();
        for_each_statistics(Plan, [&](element_range const& r, int) {
            T const* const from = at(r.where) + r.offset;
            kept_.insert(kept_.end(), from, from + r.count);
        });
        kept_totals_ = totals_;
    }
    template <auto const& Plan>
    void bring_back_statistics() {
        T const* from = kept_.data();
        for_each_statistics(Plan, [&](element_range const& r, int) {
            std::copy_n(from, r.count, at(r.where) + r.offset);
            from += r.count;
        });
        totals_ = kept_totals_;
    }

    // A whole training step; a single launch on devices that can.
    template <auto const& Plan, int Slots, class Rule>
    void train(std::ptrdiff_t samples, std::uint64_t step, Rule const& rule, T scale) {
        run<Plan>(samples, step);
        add_totals<Plan>(); // before the update may use the workspace
        if constexpr (NeedsNorm<Rule>) {
            double const norm = std::sqrt(squares<Plan>(scale, 0, Plan.trainable));
            update<Plan, Slots>(rule.with_norm(norm), scale);
        } else {
            update<Plan, Slots>(rule, scale);
        }
    }
    template <auto const& Plan>
    void evaluate(std::ptrdiff_t samples, std::uint64_t batch) {
        run<Plan>(samples, batch);
        add_totals<Plan>();
    }

    // Copies values of the device's memory to a message in host memory, and a message back.
    std::span<T> message(std::size_t number, std::span<element_range const> ranges) {
        for (element_range const& r : ranges) {
            update_.forget_rows(r.where);
        }
        return messages_.read(number, ranges, context_);
    }
    void accept(std::size_t number, std::span<element_range const> ranges) {
        messages_.write(number, ranges, context_);
    }

    // Reads and sets the totals.
    void read_totals(double* to, std::size_t count) const {
        for (std::size_t i = 0; i < count; ++i) {
            to[i] = i < totals_.size() ? totals_[i] : 0;
        }
    }
    void set_totals(double const* from, std::size_t count) { totals_.assign(from, from + count); }

private:
    memory arena_;
    typename Device::context context_{};
    parameter_update<Device> update_;
    std::vector<double> totals_, kept_totals_;
    std::vector<T> kept_; // see keep_statistics()
    messages<T> messages_;
};

} // namespace castnet::cpu::inline CASTNET_TARGET
