// Executor of plans on the CPU, with one block of memory. This is the host's memory, so nothing is
// copied.
#pragma once

#include <castnet/core/philox.hpp>
#include <castnet/device/cpu/memory.hpp>
#include <castnet/device/cpu/optimize.hpp>
#include <castnet/device/executor_sizes.hpp>
#include <castnet/device/host_memory.hpp>
#include <castnet/device/ir.hpp>
#include <castnet/optim/optimizer.hpp>
#include <castnet/plan/communication.hpp>
#include <castnet/plan/penalties.hpp>
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
    // Whether the device's kernels look at gradient_rows.
    static constexpr bool knows_rows = requires(typename Device::context& c) { c.tables; };

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
        if constexpr (knows_rows && (trains_tables(Plan) || ...)) {
            (..., add_tables(Plan));
            context_.tables = tables_;
        }
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
        groups_.assign(groups.begin(), groups.end());
    }

    // The sum of squares of the gradients of the parameters [first, last), with penalties.
    // Parameter by parameter in the order of the network, which does not depend on their layout.
    template <auto const& Plan>
    double squares(T scale, std::ptrdiff_t first, std::ptrdiff_t last) const {
        double sum = 0;
        for (std::size_t i = 0; i < std::size(Plan.parameters); ++i) {
            placed_parameter const& p = Plan.parameters[i];
            std::ptrdiff_t const begin = std::max(p.offset, first),
                                 end = std::min(p.offset + p.count(), last);
            bool const counts = p.trainable && group_at(groups(), i) != no_group;
            gradient_rows const* const table = table_at(p.offset);
            if (counts && table && table->are_known() && p.cost == penalty{} &&
                end - begin == p.count()) {
                sum += cpu::sum_of_squares(scale, at(region::gradients) + begin, *table);
            } else if (counts && p.shape.rank > 0 && begin < end) {
                sum += Device::sum_of_squares(p.cost, scale, at(region::parameters) + begin,
                                              at(region::gradients) + begin, end - begin);
            }
        }
        return sum;
    }

    // Applies the optimizer's rule to all parameters; gradients are multiplied with `scale`.
    template <auto const& Plan, int Slots, class Rule>
    void update(Rule const& rule, T scale) {
        update<Plan, Slots>(rule, scale, 0, Plan.trainable, Plan.trainable);
    }
    // The same for the parameters from `first` on; only these have slots, `slot_stride` apart.
    template <auto const& Plan, int Slots, class Rule>
    void update(Rule const& rule, T scale, std::ptrdiff_t first, std::ptrdiff_t last,
                std::ptrdiff_t slot_stride) {
        T* const gradients = at(region::gradients);
        if constexpr (ByParameter<Rule>) { // all of them, or none
            if (first < last) {
                update_each<Plan, Slots>(rule, scale);
            }
        } else {
            for_each_penalty(Plan, groups(),
                             [&](penalty const& cost, update_group group, std::ptrdiff_t begin,
                                 std::ptrdiff_t end) {
                                 if (group != no_group) {
                                     update_range<Slots>(rule_of_group(rule, group), cost,
                                                         {scale,
                                                          {},
                                                          {},
                                                          at(region::parameters) + first,
                                                          gradients + first,
                                                          gradients + Plan.trainable,
                                                          slot_stride},
                                                         first, std::max(begin, first),
                                                         std::min(end, last));
                                 }
                             });
        }
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
        forget_rows(r.where);
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

    // Copies values of the device's memory to a message in host memory, which is the memory itself
    // for a single range; accept() writes the message back. Messages are numbered, and each stays
    // valid until the next one of its number.
    std::span<T> message(std::size_t number, std::span<element_range const> ranges) {
        for (element_range const& r : ranges) {
            forget_rows(r.where);
        }
        if (ranges.size() == 1) {
            return {at(ranges[0].where) + ranges[0].offset, std::size_t(ranges[0].count)};
        }
        if (messages_.size() <= number) {
            messages_.resize(number + 1);
        }
        std::vector<T>& all = messages_[number];
        all.clear();
        for (element_range const& r : ranges) {
            T const* const from = at(r.where) + r.offset;
            all.insert(all.end(), from, from + r.count);
        }
        return all;
    }
    void accept(std::size_t number, std::span<element_range const> ranges) {
        if (ranges.size() == 1) {
            return;
        }
        T const* from = messages_[number].data();
        for (element_range const& r : ranges) {
            std::copy_n(from, r.count, at(r.where) + r.offset);
            from += r.count;
        }
    }

    // Reads and sets the totals.
    void read_totals(double* to, std::size_t count) const {
        for (std::size_t i = 0; i < count; ++i) {
            to[i] = i < totals_.size() ? totals_[i] : 0;
        }
    }
    void set_totals(double const* from, std::size_t count) { totals_.assign(from, from + count); }

private:
    // The parameters [begin, end); the operands are those from `first` on.
    template <int Slots, class Rule>
    void update_range(Rule const& rule, penalty const& cost, optimized<T> const& all,
                      std::ptrdiff_t first, std::ptrdiff_t begin, std::ptrdiff_t end) {
        auto const update_until = [&](std::ptrdiff_t until) {
            if (begin < until) {
                Device::template optimize<Slots>(rule, cost, all.scale, all.parameters,
                                                 all.gradients, all.slots, all.slot_stride,
                                                 begin - first, until - first);
            }
        };
        if constexpr (knows_rows && requires { rule.is_lazy(); }) {
            for (gradient_rows const& table : tables_) {
                if (rule.is_lazy() && cost == penalty{} && begin <= table.offset() &&
                    table.end() <= end) {
                    update_until(table.offset());
                    cpu::optimize_rows<Slots>(rule, all, table.offset() - first, table);
                    begin = table.end();
                }
            }
        }
        update_until(end);
    }

    // Parameter by parameter, with the workspace as scratch memory.
    template <auto const& Plan, int Slots, class Rule>
    void update_each(Rule const& rule, T scale) {
        for (std::size_t i = 0; i < std::size_t(Plan.sizes.parameters); ++i) {
            placed_parameter const& p = Plan.parameters[i];
            update_group const group = group_at(groups(), i);
            if (p.trainable && group != no_group) {
                T* const gradients = at(region::gradients);
                Device::template optimize_parameter<Slots>(
                    rule_of_group(rule, group), p,
                    {scale, static_cast<T>(p.cost.l1), static_cast<T>(2 * p.cost.l2),
                     at(region::parameters) + p.offset, gradients + p.offset,
                     gradients + Plan.trainable + p.offset, Plan.trainable},
                    at(region::workspace));
            }
        }
    }

    template <class Plan>
    static constexpr bool trains_tables(Plan const& plan) {
        bool any = false;
        for (placed_parameter const& p : plan.parameters) {
            any = any || (p.trainable && p.is_table);
        }
        return any && plan.elements(region::gradients) > 0;
    }
    template <class Plan>
    void add_tables(Plan const& plan) {
        for (placed_parameter const& p : plan.parameters) {
            if (plan.elements(region::gradients) > 0 && p.trainable && p.is_table) {
                tables_.emplace_back(p.offset, p.shape.extent[0], p.shape.extent[1]);
            }
        }
        std::sort(tables_.begin(), tables_.end(),
                  [](auto const& a, auto const& b) { return a.offset() < b.offset(); });
    }
    gradient_rows const* table_at(std::ptrdiff_t offset) const {
        auto const found = std::find_if(tables_.begin(), tables_.end(),
                                        [=](auto const& t) { return t.offset() == offset; });
        return found == tables_.end() ? nullptr : &*found;
    }
    // Somebody else changes gradients.
    void forget_rows(region where) {
        for (gradient_rows& each : tables_) {
            if (where == region::gradients) {
                each.forget();
            }
        }
    }

    std::span<update_group const> groups() const { return {groups_.data(), groups_.size()}; }

    memory arena_;
    typename Device::context context_{};
    std::vector<update_group> groups_;  // see set_groups(); none at first
    std::vector<gradient_rows> tables_; // of trained ones, in their order
    std::vector<double> totals_, kept_totals_;
    std::vector<T> kept_;                  // see keep_statistics()
    std::vector<std::vector<T>> messages_; // of several ranges
};

} // namespace castnet::cpu::inline CASTNET_TARGET
