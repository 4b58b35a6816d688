// The passes from a traced network to its plan: constants, each made from the one before.
#pragma once

#include <castnet/graph/batch_norm_folding.hpp>
#include <castnet/graph/device_copies.hpp>
#include <castnet/graph/differentiate.hpp>
#include <castnet/graph/fingerprint.hpp>
#include <castnet/graph/joined_parameters.hpp>
#include <castnet/graph/loops.hpp>
#include <castnet/graph/old_statistics.hpp>
#include <castnet/graph/one_pass_statistics.hpp>
#include <castnet/graph/over_slices.hpp>
#include <castnet/graph/recomputation.hpp>
#include <castnet/graph/shared_channels.hpp>
#include <castnet/graph/storage.hpp>
#include <castnet/graph/stored_slices.hpp>
#include <castnet/plan/fused_groups.hpp>
#include <castnet/plan/plan.hpp>

#include <utility>

namespace castnet {

// A class, so that every compiler prints the type.
template <class Network, bool Traceable>
struct compiler_can_trace {
    static_assert(
        Traceable,
        "castnet: the compiler traces a network, its loss and its metrics, and cannot compute one "
        "of their functions: declare them constexpr, return symbols by value, and neither print "
        "nor read variables of the program there; see the next error, which says where");
    static constexpr bool checked = true;
};

} // namespace castnet

namespace castnet::ir {

// From a network to the graph of its step. Recipe::build<Network>(graph&) traces a network and says
// what leaves the step. A recipe whose plan runs many times with the same parameters says so,
// `keeps_parameters = true`.
template <class Recipe, class Network, class Device, bool Training>
class trace_passes {
protected:
    // Parameters stay as they are from run to run.
    static constexpr bool keeps_prepared =
        PreparingDevice<Device> && requires { requires Recipe::keeps_parameters; };

    // How large a pass's tables must be is known when it has run. So they have the usual capacity
    // at first, and a pass runs again only where that was not enough. (Sizes are constants of their
    // own, since nvcc copies a table wherever an expression names it. Named objects throughout:
    // nvcc 13.0 does not destroy some temporaries in constant expressions, and takes no references
    // to these constants.)
    template <traced_sizes Capacity>
    static constexpr traced_graph<Capacity> trace_network() {
        graph g{Training};
        results const wanted = Recipe::template build<Network>(g);
        return {g, wanted};
    }
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
    // (g++ remembers the result for the next call.)
    static constexpr bool traceable =
        requires { typename std::bool_constant<trace_network<usual_trace>().sizes.loops >= 0>; };
#else
    static constexpr bool traces() {
        graph g{Training};
        results const wanted = Recipe::template build<Network>(g);
        return wanted.outputs.size() >= 0;
    }
    static constexpr bool traceable = requires { typename std::bool_constant<traces()>; };
#endif
    static_assert(compiler_can_trace<Network, traceable>::checked);

    // After a failed check, the compiler's reason, and a graph with which no other errors follow.
    template <traced_sizes Capacity>
    static constexpr traced_graph<Capacity> reason = trace_network<Capacity>();
    template <traced_sizes Capacity>
    static constexpr traced_graph<Capacity> trace_forward() {
        if constexpr (traceable) {
            return trace_network<Capacity>();
        } else {
            void(requires { typename std::bool_constant<reason<Capacity>.sizes.loops >= 0>; });
            graph g{Training};
            g.report(mistake::not_constant);
            results wanted;
            while (wanted.outputs.size() < Capacity.outputs) {
                wanted.outputs.push(g.push(graph::shaped<shape<>>(op::input, true)));
            }
            return {g, wanted};
        }
    }
    template <traced_sizes Capacity>
    static constexpr traced_graph<Capacity> forward_in = trace_forward<Capacity>();
    static constexpr traced_sizes forward_sizes = forward_in<usual_trace>.sizes;
    static constexpr traced_sizes forward_capacity = forward_sizes.room(usual_trace);

    // Of the network alone, to go on with.
    static constexpr graph forward_again(results& wanted) {
        if constexpr (traceable && counts_first) { // another trace takes less than a constant
            graph g{Training};
            wanted = Recipe::template build<Network>(g);
            return g;
        } else {
            wanted = forward_in<forward_capacity>.results_again();
            return forward_in<forward_capacity>.graph_again();
        }
    }
    // With its gradients and the copies that devices need.
    template <traced_sizes Capacity>
    static constexpr traced_graph<Capacity> trace() {
        results wanted;
        graph g = forward_again(wanted);
        differentiate(g, wanted);
        join_parameters(g, wanted);
        old_statistics{g, wanted}.run();
        place_on_devices(g, wanted, device_count<Device>);
        if constexpr (keeps_prepared) {
            batch_norm_folding folding{g, wanted};
            folding.run();
        }
        if constexpr (JoiningDevice<Device>) {
            one_pass_statistics{g, wanted}.run();
        }
        if constexpr (MixedPrecisionDevice<Device>) {
            copies_for_products{g, wanted}.run();
        }
        order_loops(g, wanted);
        compute_again(g, wanted, RecomputingDevice<Device>);
        share_channels_in_loops(g, wanted);
        if constexpr (JoiningDevice<Device>) {
            store_slices(g, wanted);
        }
        find_storage(g, wanted);
        store_over_slices(g, wanted);
        return {g, wanted};
    }
    template <traced_sizes Capacity>
    static constexpr traced_graph<Capacity> traced_in = trace<Capacity>();
    static constexpr traced_sizes usual = usual_differentiated(forward_sizes);

public:
    static constexpr traced_sizes trace_sizes = traced_in<usual>.sizes;

protected:
    static constexpr graph_view traced = traced_in<trace_sizes.room(usual)>.view();

public:
    static constexpr bool evaluated = traced.node_count >= 0;
    // Of a training step; the same for all devices, and for a repeated block and the same blocks
    // written out. (Where these are too many to be traced, there is none.)
    static constexpr fingerprint find_fingerprint() {
        if constexpr (forward_sizes.repeats == 0) {
            return fingerprint_of(forward_in<forward_capacity>.view());
        } else if constexpr (nodes_written_out(forward_in<forward_capacity>.view()) <=
                             most_written_out) {
            graph g{Training};
            g.unrolls = true;
            results const wanted = Recipe::template build<Network>(g);
            return fingerprint_of(view_of(g, wanted));
        } else {
            return {};
        }
    }
    static constexpr fingerprint traced_fingerprint = find_fingerprint();
};

// From the graph to groups of nodes.
template <class Recipe, class Network, class Device, bool Training>
class fusion_passes : public trace_passes<Recipe, Network, Device, Training> {
protected:
    using trace_passes<Recipe, Network, Device, Training>::traced;
    static constexpr int nodes = trace_passes<Recipe, Network, Device, Training>::trace_sizes.nodes;

    static constexpr fused_groups<Device, nodes> groups{traced};

public:
    static constexpr bool evaluated = groups.of[0] >= -1;
};

// From groups of nodes to the list of launches.
template <class Recipe, class Network, class Device, bool Training>
class launch_passes : public fusion_passes<Recipe, Network, Device, Training> {
protected:
    using before = fusion_passes<Recipe, Network, Device, Training>;
    using before::groups;
    using before::keeps_prepared;
    using before::nodes;
    using before::traced;

    // The parts of the list of launches.
    template <int Part>
    static constexpr launch_list_begin part_begin() {
        if constexpr (Part == 0) {
            return {};
        } else {
            return part_in<Part - 1, part_capacity<Part - 1>>.after(part_begin<Part - 1>());
        }
    }
    template <int Part, launch_list_sizes Capacity>
    static constexpr launch_list<Capacity> list_part() {
        launch_list_builder<Device> builder{traced, groups.view(), part_begin<Part>(),
                                            keeps_prepared};
        int const last = (Part + 1) * nodes_of_part;
        launch_list_draft const d = builder.run(last < nodes ? last : nodes);
        return launch_list<Capacity>{d};
    }
    template <int Part, launch_list_sizes Capacity>
    static constexpr launch_list<Capacity> part_in = list_part<Part, Capacity>();
    template <int Part>
    static constexpr launch_list_sizes part_sizes = part_in<Part, usual_launch_list(nodes)>.sizes;
    template <int Part>
    static constexpr launch_list_sizes part_capacity =
        part_sizes<Part>.room(usual_launch_list(nodes));

    template <int... Part>
    static constexpr launch_list_sizes sum_of_parts(std::integer_sequence<int, Part...>) {
        launch_list_sizes all{};
        (..., void(all = all.then(part_sizes<Part>)));
        return all;
    }
    static constexpr int parts = launch_list_parts(nodes);
    using part_numbers = std::make_integer_sequence<int, parts>;
    static constexpr launch_list_sizes sizes_of_list = sum_of_parts(part_numbers{});
    // (Of a call with constants only, nvcc keeps the result besides.)
    template <int... Part>
    static constexpr launch_list<sizes_of_list> join(launch_list_sizes const& all,
                                                     std::integer_sequence<int, Part...>) {
        return launch_list<sizes_of_list>{all, part_in<Part, part_capacity<Part>>...};
    }
    template <class Numbers>
    static constexpr launch_list<sizes_of_list> joined = join(sizes_of_list, Numbers{});
    static constexpr auto const& all_parts() {
        if constexpr (parts == 1) {
            return part_in<0, part_capacity<0>>;
        } else {
            return joined<part_numbers>;
        }
    }
    static constexpr auto const& listed = all_parts();

public:
    static constexpr launch_list_sizes launch_sizes = sizes_of_list;
    static constexpr bool evaluated = listed.sizes.launches >= 0;
};

// From the list of launches to the plan of its memory.
template <class Recipe, class Network, class Device, size_t Batch, bool Training>
class pipeline : public launch_passes<Recipe, Network, Device, Training> {
    using before = launch_passes<Recipe, Network, Device, Training>;
    using before::keeps_prepared;
    using before::listed;
    using before::nodes;
    using before::sizes_of_list;
    using before::traced;

    static constexpr value_lifetimes<nodes> alive{traced, listed, device_count<Device>};
    static constexpr lifetimes_view lives = alive.view();
    static constexpr stages<Device, sizes_of_list.launches> staged{traced, listed,
                                                                   static_cast<int>(Batch)};

    struct made {
        static constexpr plan_tables<sizes_of(traced, sizes_of_list, staged.count,
                                              device_count<Device>)>
            tables{traced,
                   listed,
                   lives,
                   staged,
                   static_cast<int>(Batch),
                   Device::alignment,
                   bf16_per_value<Device>(),
                   keeps_prepared,
                   BatchKeepingDevice<Device>};
    };

public:
    static constexpr plan<made> value{};
    static constexpr bool evaluated = value.sizes.launches >= 0;
};

template <class Passes>
void evaluate() {
    static_assert(Passes::evaluated);
}

// Evaluates the passes ahead of the first use of the plan, some in a function of their own each:
// what constant evaluation leaves in its memory, g++ frees between the definitions of functions
// only. (Functions with deduced types are instantiated where they are called, and these therefore
// before others that the caller uses later.)
template <class Recipe, class Network, class Device, size_t Batch, bool Training>
auto evaluate_pipeline() {
    evaluate<trace_passes<Recipe, Network, Device, Training>>();
    evaluate<fusion_passes<Recipe, Network, Device, Training>>();
    evaluate<launch_passes<Recipe, Network, Device, Training>>();
    evaluate<pipeline<Recipe, Network, Device, Batch, Training>>();
}

} // namespace castnet::ir
