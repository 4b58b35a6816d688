// Update of the parameters by an optimizer's rule.
#pragma once

#include <castnet/device/cpu/optimize.hpp>
#include <castnet/device/cpu/trained_tables.hpp>
#include <castnet/device/ir.hpp>
#include <castnet/optim/optimizer.hpp>
#include <castnet/plan/penalties.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

namespace castnet::cpu::inline CASTNET_TARGET {

template <class Device>
class parameter_update {
    using T = typename Device::value_type;
    using context = typename Device::context;
    // Whether the device's kernels look at gradient_rows.
    static constexpr bool knows_rows = requires(context& c) { c.tables; };

public:
    // Lets the kernels of these plans keep account of the rows of tables.
    template <auto const&... Plan>
    void add_tables([[maybe_unused]] context& c) {
        if constexpr (knows_rows && (trained_tables::are_in(Plan) || ...)) {
            (..., tables_.add(Plan));
            c.tables = tables_.all();
        }
    }

    // Something else than a step's launches changes this region.
    void forget_rows(region where) {
        if (where == region::gradients) {
            tables_.forget_rows();
        }
    }

    void set_groups(std::span<update_group const> groups) {
        groups_.assign(groups.begin(), groups.end());
    }

    // The sum of squares of the gradients of the parameters [first, last), with penalties.
    // Parameter by parameter in the order of the network, which does not depend on their layout.
    template <auto const& Plan>
    double squares(context const& c, T scale, std::ptrdiff_t first, std::ptrdiff_t last) const {
        T* const gradients = c.region[int(region::gradients)];
        double sum = 0;
        for (std::size_t i = 0; i < std::size(Plan.parameters); ++i) {
            placed_parameter const& p = Plan.parameters[i];
            std::ptrdiff_t const begin = std::max(p.offset, first),
                                 end = std::min(p.offset + p.count(), last);
            bool const counts = p.trainable && group_at(groups(), i) != no_group;
            gradient_rows const* const table = tables_.at(p.offset);
            if (counts && table && table->are_known() && p.cost == penalty{} &&
                end - begin == p.count()) {
                sum += cpu::sum_of_squares(scale, gradients + begin, *table);
            } else if (counts && p.shape.rank > 0 && begin < end) {
                sum +=
                    Device::sum_of_squares(p.cost, scale, c.region[int(region::parameters)] + begin,
                                           gradients + begin, end - begin);
            }
        }
        return sum;
    }

    // Applies the rule to the parameters [first, last); gradients are multiplied with `scale`. Only
    // these parameters have slots, `slot_stride` apart.
    template <auto const& Plan, int Slots, class Rule>
    void update(context const& c, Rule const& rule, T scale, std::ptrdiff_t first,
                std::ptrdiff_t last, std::ptrdiff_t slot_stride) {
        if constexpr (ByParameter<Rule>) { // all of them, or none
            if (first < last) {
                update_each<Plan, Slots>(c, rule, scale);
            }
        } else {
            T* const gradients = c.region[int(region::gradients)];
            optimized<T> const all{scale,
                                   {},
                                   {},
                                   c.region[int(region::parameters)] + first,
                                   gradients + first,
                                   gradients + Plan.trainable,
                                   slot_stride};
            for_each_penalty(Plan, groups(),
                             [&](penalty const& cost, update_group group, std::ptrdiff_t begin,
                                 std::ptrdiff_t end) {
                                 if (group != no_group) {
                                     update_range<Slots>(rule_of_group(rule, group), cost, all,
                                                         first, std::max(begin, first),
                                                         std::min(end, last));
                                 }
                             });
        }
    }

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
            for (gradient_rows const& table : tables_.all()) {
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
    void update_each(context const& c, Rule const& rule, T scale) const {
        for (std::size_t i = 0; i < std::size_t(Plan.sizes.parameters); ++i) {
            placed_parameter const& p = Plan.parameters[i];
            update_group const group = group_at(groups(), i);
            if (p.trainable && group != no_group) {
                T* const gradients = c.region[int(region::gradients)];
                Device::template optimize_parameter<Slots>(
                    rule_of_group(rule, group), p,
                    {scale, static_cast<T>(p.cost.l1), static_cast<T>(2 * p.cost.l2),
                     c.region[int(region::parameters)] + p.offset, gradients + p.offset,
                     gradients + Plan.trainable + p.offset, Plan.trainable},
                    c.region[int(region::workspace)]);
            }
        }
    }

    // (A vector itself becomes a span by way of std::ranges, which compilers take long for.)
    std::span<update_group const> groups() const { return {groups_.data(), groups_.size()}; }

    std::vector<update_group> groups_; // see set_groups(); none at first
    trained_tables tables_;
};

} // namespace castnet::cpu::inline CASTNET_TARGET
