// The stages from a traced network to its plan: constants, each made from the one before.
#pragma once

#include <castnet/graph/devices.hpp>
#include <castnet/graph/differentiate.hpp>
#include <castnet/graph/loops.hpp>
#include <castnet/plan/plan.hpp>

#include <utility>

namespace castnet::ir {

// Recipe::build<Network>(graph&) traces a network and says what leaves the step.
template <class Recipe, class Network, class Device, size_t Batch, bool Training>
class pipeline {
    // How large a stage's tables must be is known when it has run. So they have the usual room at
    // first, and a stage runs again only where that was not enough. (Named objects throughout: nvcc
    // 13.0 does not destroy some temporaries in constant expressions, and takes no references to
    // these constants.)
    template <traced_sizes Room>
    static constexpr traced_graph<Room> trace_forward() {
        graph g{Training};
        results const wanted = Recipe::template build<Network>(g);
        return {g, wanted};
    }
    template <traced_sizes Room>
    static constexpr traced_graph<Room> forward_in = trace_forward<Room>();
    static constexpr traced_sizes forward_room = forward_in<usual_trace>.room();
    static constexpr traced_sizes forward_sizes = forward_in<forward_room>.sizes;

    // With its gradients and the copies that devices need.
    template <traced_sizes Room>
    static constexpr traced_graph<Room> trace() {
        graph g = forward_in<forward_room>.graph_again();
        results wanted = forward_in<forward_room>.results_again();
        differentiate(g, wanted);
        order_loops(g, wanted);
        place_on_devices(g, wanted, device_count<Device>);
        if constexpr (NarrowDevice<Device>) {
            copies_for_products{g, wanted}.run();
        }
        return {g, wanted};
    }
    template <traced_sizes Room>
    static constexpr traced_graph<Room> traced_in = trace<Room>();
    static constexpr traced_sizes trace_room =
        traced_in<usual_differentiated(forward_sizes)>.room();
    static constexpr graph_view traced = traced_in<trace_room>.view();

    static constexpr fused_groups<Device, traced.node_count> groups{traced};

    // The parts of the schedule.
    template <int Part>
    static constexpr schedule_begin part_begin() {
        if constexpr (Part == 0) {
            return {};
        } else {
            return part_in<Part - 1, part_room<Part - 1>>.behind(part_begin<Part - 1>());
        }
    }
    template <int Part, step_schedule_sizes Room>
    static constexpr step_schedule<Room> schedule_part() {
        scheduler<Device> s{traced, groups.of, part_begin<Part>()};
        int const last = (Part + 1) * nodes_of_part;
        step_schedule_draft const d = s.run(last < traced.node_count ? last : traced.node_count);
        return step_schedule<Room>{d};
    }
    template <int Part, step_schedule_sizes Room>
    static constexpr step_schedule<Room> part_in = schedule_part<Part, Room>();
    template <int Part>
    static constexpr step_schedule_sizes part_room =
        part_in<Part, usual_schedule(traced.node_count)>.room();

    template <int... Part>
    static constexpr step_schedule_sizes sum_of_parts(std::integer_sequence<int, Part...>) {
        step_schedule_sizes all{};
        (..., void(all = all.then(part_in<Part, part_room<Part>>.sizes)));
        return all;
    }
    using schedule_part_numbers =
        std::make_integer_sequence<int, schedule_parts(traced.node_count)>;
    static constexpr step_schedule_sizes steps = sum_of_parts(schedule_part_numbers{});
    template <int... Part>
    static constexpr step_schedule<steps> schedule(std::integer_sequence<int, Part...>) {
        return step_schedule<steps>{steps, part_in<Part, part_room<Part>>...};
    }
    static constexpr step_schedule<steps> scheduled = schedule(schedule_part_numbers{});

    static constexpr value_lifetimes<traced.node_count> lives{traced, scheduled,
                                                              device_count<Device>};
    static constexpr stages<Device, steps.steps> staged{traced, scheduled, static_cast<int>(Batch)};

public:
    // What the trace and the schedule found.
    static constexpr traced_sizes trace_sizes = traced_in<trace_room>.sizes;
    static constexpr step_schedule_sizes schedule_sizes = steps;

    static constexpr plan<sizes_of(traced, steps, staged.count, device_count<Device>)> value{
        traced,
        scheduled,
        lives,
        staged,
        static_cast<int>(Batch),
        Device::alignment,
        narrow_per_value<Device>()};
};

} // namespace castnet::ir
