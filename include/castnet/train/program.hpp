// The programs of a network: what prediction, evaluation and a training step compute, as plans.
#pragma once

#include <castnet/core/fixed_string.hpp>
#include <castnet/graph/devices.hpp>
#include <castnet/graph/differentiate.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/plan/plan.hpp>
#include <castnet/train/step_scores.hpp>

namespace castnet {

// How many samples one device computes at most in a step.
template <size_t Samples>
struct batch {
    static constexpr size_t capacity = Samples;
    static_assert(Samples > 0, "castnet: a batch needs room for at least one sample");
};

// Classes that say what is not used, so that every compiler prints its name or number; the empty
// name and -1 stand for nothing.
template <fixed_string Name>
struct parameter_is_used {
    static_assert(
        Name.view().empty(),
        "castnet: a parameter of the network does not reach its outputs (or, in training, "
        "the loss); see parameter_is_used<name>");
    static constexpr bool checked = true;
};
template <fixed_string Name>
struct parameter_name_is_unique {
    static_assert(Name.view().empty(),
                  "castnet: two parameters of the network have the same name, which files and "
                  "model.get() find them by; give one of the layers another name with "
                  "cn::named; see parameter_name_is_unique<name>");
    static constexpr bool checked = true;
};
template <int Number>
struct input_is_used {
    static_assert(Number < 0, "castnet: an input of the network does not reach its outputs; see "
                              "input_is_used<number>");
    static constexpr bool checked = true;
};

template <bool GivenLogits>
struct loss_is_given_logits {
    static_assert(
        GivenLogits,
        "castnet: the network ends in softmax, log_softmax or sigmoid, which cross_entropy, "
        "categorical_cross_entropy, binary_cross_entropy and binary_accuracy apply themselves: "
        "leave it out; for probabilities, predict with a network of the same layers that ends in "
        "it and loads the same file");
    static constexpr bool checked = true;
};

template <class LossOrMetric>
struct has_no_members {
    static_assert(std::is_empty_v<LossOrMetric>,
                  "castnet: a loss or metric has members, but only its type goes into the step: "
                  "make their values template arguments, as in huber<delta>; see "
                  "has_no_members<type>");
    static constexpr bool checked = true;
};
template <class... Loss>
struct has_no_members<loss_list<Loss...>> {
    static constexpr bool checked = (has_no_members<Loss>::checked && ...);
};
template <size_t Output, class Metric>
struct has_no_members<output_metric<Output, Metric>> : has_no_members<Metric> {};

template <int Named, int Available>
struct devices_exist {
    static_assert(Available == 1 || Named <= Available,
                  "castnet: cn::on places layers on a device that the policy does not have; see "
                  "devices_exist<devices named, devices of the policy>");
    static constexpr bool checked = true;
};

namespace detail {

struct prediction_recipe {
    template <class Network>
    static constexpr results build(graph& g) {
        auto const out = Network::trace(g);
        results r;
        for (int id : out.ids) {
            r.outputs.push(id);
        }
        return r;
    }
};

// outputs: the weighted sums over the samples of the loss, of those that it consists of, and of
// each metric.
template <class Loss, class... Metrics>
struct step_recipe {
    static_assert(has_no_members<Loss>::checked && (has_no_members<Metrics>::checked && ...));

    template <class Network>
    static constexpr results build(graph& g) {
        auto const out = Network::trace(g);
        g.device = g.nodes[out.ids[0]].device;
        using outputs = typename decltype(out)::shapes;
        step_symbols<outputs, targets_of_step<Loss, outputs>> const symbols{g, out.ids};
        symbol<shape<>> const weight =
            emit<shape<>>(g, graph::shaped<shape<>>(op::sample_weight, true));
        list<symbol<shape<>>> parts;
        symbol<shape<>> const loss = step_loss(Loss{}, symbols, parts);
        results r;
        r.outputs.push(total(loss, weight));
        for (symbol<shape<>> part : parts) {
            r.outputs.push(total(part, weight));
        }
        (r.outputs.push(total(step_metric(Metrics{}, symbols), weight)), ...);
        if (g.training) {
            r.gradients = differentiation{g}.run(loss.id, weight.id);
        }
        return r;
    }

private:
    static constexpr int total(symbol<shape<>> value, symbol<shape<>> weight) {
        graph& g = *value.g;
        return g.push(reduce_node(value.id, reduction::sum, extents{false, 1, 1}, 1, weight.id));
    }
};

// A recipe's graph, its schedule and its plan: constants, each made from the one before.
template <class Recipe, class Network, class Device, size_t Batch, bool Training>
class program_of {
    // How large a stage's tables must be is known when it has run. So they have the usual room at
    // first, and a stage runs again only where that was not enough. (Named objects throughout: nvcc
    // 13.0 does not destroy some temporaries in constant expressions, and takes no references to
    // these constants.)
    template <traced_sizes Room>
    static constexpr traced_graph<Room> trace() {
        graph g{Training};
        results wanted = Recipe::template build<Network>(g);
        place_on_devices(g, wanted, device_count<Device>);
        if constexpr (NarrowDevice<Device>) {
            copies_for_products{g, wanted}.run();
        }
        return {g, wanted};
    }
    template <traced_sizes Room>
    static constexpr traced_graph<Room> traced_in = trace<Room>();
    static constexpr traced_sizes trace_room = traced_in<usual_trace>.room();
    static constexpr graph_view traced = traced_in<trace_room>.view();

    static constexpr fused_groups<Device, traced.node_count> groups{traced};

    template <step_schedule_sizes Room>
    static constexpr step_schedule<Room> schedule() {
        scheduler<Device> s{traced, groups.of};
        step_schedule_draft const d = s.run();
        return step_schedule<Room>{d};
    }
    template <step_schedule_sizes Room>
    static constexpr step_schedule<Room> scheduled_in = schedule<Room>();
    static constexpr step_schedule_sizes schedule_room =
        scheduled_in<usual_schedule(traced.node_count)>.room();
    static constexpr step_schedule_sizes steps = scheduled_in<schedule_room>.sizes;

    static constexpr stages<Device, steps.steps> staged{traced, scheduled_in<schedule_room>,
                                                        static_cast<int>(Batch)};

public:
    static constexpr plan<sizes_of(traced, steps, staged.count, device_count<Device>)> value{
        traced,
        scheduled_in<schedule_room>,
        staged,
        static_cast<int>(Batch),
        Device::alignment,
        narrow_per_value<Device>()};

private:
    // The name of a parameter, empty for number -1.
    template <int Number, class Put>
    static constexpr void spell(Put put) {
        if constexpr (Number >= 0) {
            value.parameters[Number].name.write(put);
        }
    }
    template <int Number>
    static constexpr size_t length() {
        size_t count = 0;
        spell<Number>([&](char) { ++count; });
        return count;
    }
    template <int Number>
    static constexpr auto name_text() {
        char text[length<Number>() + 1]{};
        char* end = text;
        spell<Number>([&](char c) { *end++ = c; });
        return fixed_string{text};
    }
    // All programs of a network have the same parameters: it is enough to look at one.
    static constexpr int repeated = std::is_same_v<Recipe, prediction_recipe>
                                        ? repeated_name(value.parameters, value.sizes.parameters)
                                        : -1;
    static_assert(
        devices_exist<traced_in<trace_room>.sizes.devices, device_count<Device>>::checked);
    static_assert(loss_is_given_logits<!traced_in<trace_room>.sizes.probabilities>::checked);
    static_assert(parameter_is_used<name_text<steps.unused_parameter>()>::checked);
    static_assert(parameter_name_is_unique<name_text<repeated>()>::checked);
    static_assert(input_is_used<steps.unused_input>::checked);
};

} // namespace detail
} // namespace castnet
