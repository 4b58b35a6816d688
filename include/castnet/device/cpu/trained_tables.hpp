// Trained tables of a plan, such as embeddings: which rows of them have a gradient.
#pragma once

#include <castnet/device/cpu/gradient_rows.hpp>
#include <castnet/device/ir.hpp>
#include <castnet/plan/plan.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace castnet::cpu::inline CASTNET_TARGET {

class trained_tables {
public:
    template <class Plan>
    static constexpr bool are_in(Plan const& plan) {
        bool any = false;
        for (placed_parameter const& p : plan.parameters) {
            any = any || (p.trainable && p.is_table);
        }
        return any && plan.elements(region::gradients) > 0;
    }

    template <class Plan>
    void add(Plan const& plan) {
        for (placed_parameter const& p : plan.parameters) {
            if (plan.elements(region::gradients) > 0 && p.trainable && p.is_table) {
                tables_.emplace_back(p.offset, p.shape.extent[0], p.shape.extent[1]);
            }
        }
        std::sort(tables_.begin(), tables_.end(),
                  [](auto const& a, auto const& b) { return a.offset() < b.offset(); });
    }

    // In the order of their offsets.
    std::span<gradient_rows> all() { return {tables_.data(), tables_.size()}; }

    // The table at this offset; nullptr if there is none.
    gradient_rows const* at(std::ptrdiff_t offset) const {
        for (gradient_rows const& each : tables_) {
            if (each.offset() == offset) {
                return &each;
            }
        }
        return nullptr;
    }

    // Something else than a step's launches changes gradients.
    void forget_rows() {
        for (gradient_rows& each : tables_) {
            each.forget();
        }
    }

private:
    std::vector<gradient_rows> tables_;
};

} // namespace castnet::cpu::inline CASTNET_TARGET
