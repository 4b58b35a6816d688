// Update group of each parameter: the optimizer's own, or none while the parameter is frozen.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/text.hpp>
#include <castnet/core/wildcard.hpp>
#include <castnet/optim/wrapped.hpp>
#include <castnet/plan/buffer_assignment.hpp>
#include <castnet/plan/penalties.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace castnet::detail {

// The parameters of a training plan.
using plan_parameters = std::span<ir::placed_parameter const>;

// Which of them are frozen: a flag for each; empty: none.
using frozen_flags = std::vector<unsigned char>;

inline bool is_frozen(frozen_flags const& flags, size_t parameter) {
    return !flags.empty() && flags[parameter] != 0;
}

// Whether a step changes any of them.
[[gnu::noinline]] inline bool trains_any(frozen_flags const& flags, plan_parameters parameters) {
    for (size_t i = 0; i < parameters.size(); ++i) {
        if (parameters[i].trainable && !is_frozen(flags, i)) {
            return true;
        }
    }
    return false;
}

[[gnu::noinline]] inline std::vector<std::string> names_of_frozen(frozen_flags const& flags,
                                                                  plan_parameters parameters) {
    std::vector<std::string> names;
    for (size_t i = 0; i < parameters.size(); ++i) {
        if (is_frozen(flags, i)) {
            names.push_back(parameters[i].name.text());
        }
    }
    return names;
}

// The flags after a call of freeze() or unfreeze(). Throws castnet::error if no trained parameter
// has a name that matches the pattern.
[[gnu::noinline]] inline frozen_flags with_frozen(frozen_flags flags, plan_parameters parameters,
                                                  char const* call, std::string_view pattern,
                                                  bool freezes) {
    flags.resize(parameters.size());
    bool found = false;
    std::string known;
    for (size_t i = 0; i < flags.size(); ++i) {
        ir::placed_parameter const& p = parameters[i];
        if (p.trainable && matches(pattern, p.name.text())) {
            flags[i] = freezes;
            found = true;
        } else if (p.trainable) {
            append(known, {known.empty() ? "" : ", ", p.name.text()});
        }
    }
    if (!found) {
        throw error({"castnet: ", call, ": no trained parameter has a name that matches '", pattern,
                     "'; there are ", known});
    }
    return flags;
}

// The optimizer's group of a parameter; 0 if it has no groups.
template <class Optimizer>
ir::update_group group_of([[maybe_unused]] Optimizer const& o,
                          [[maybe_unused]] ir::placed_parameter const& p) {
    if constexpr (has_groups<Optimizer>) {
        return ir::update_group(o.group_of(p.name.text()));
    } else {
        return 0;
    }
}

template <class Optimizer>
[[gnu::noinline]] std::vector<ir::update_group>
groups_of(Optimizer const& o, frozen_flags const& flags, plan_parameters parameters) {
    std::vector<ir::update_group> groups(parameters.size());
    for (size_t i = 0; i < groups.size(); ++i) {
        groups[i] = is_frozen(flags, i) ? ir::no_group : group_of(o, parameters[i]);
    }
    return groups;
}

// Throws castnet::error unless each group of the optimizer has a trained parameter; the last one
// takes those that are left and may have none.
template <class Optimizer>
[[gnu::noinline]] void check_groups(Optimizer const& o, plan_parameters parameters) {
    std::vector<int> members(Optimizer::group_count, 0);
    std::string known;
    for (ir::placed_parameter const& p : parameters) {
        members[size_t(group_of(o, p))] += p.trainable;
        if (p.trainable) {
            append(known, {known.empty() ? "" : ", ", p.name.text()});
        }
    }
    for (size_t i = 0; i + 1 < members.size(); ++i) {
        if (members[i] == 0) {
            throw error({"castnet: compile: of the parameter groups ", o.group_names(), ", number ",
                         i,
                         " has no trained parameter: none has such a name, or all of them belong "
                         "to a group before; there are ",
                         known});
        }
    }
}

} // namespace castnet::detail
