// Outputs of inner layers of a model, by name: features of samples for other programs, or for a
// look into the network.
#pragma once

#include <castnet/core/fixed_string.hpp>
#include <castnet/train/model.hpp>
#include <castnet/train/typed_parameter.hpp>

#include <string_view>
#include <vector>

namespace castnet {

// A class, so that every compiler prints the names.
template <bool Found, fixed_string Name, fixed_string... Known>
struct layer_is_there {
    static_assert(Found, "castnet: output_of<name>(model, samples): the network has no layer of "
                         "this name or position; see layer_is_there<false, name asked for, those "
                         "there are>");
    static constexpr bool checked = true;
};

namespace detail {

// Calls f(name, node) for the layers of a network in the order of their outputs.
template <class Network, class F>
constexpr void for_each_layer(ir::graph& g, F const& f) {
    g.path.lists_layers = true;
    g.unrolls = true; // layers in repeat<N, block> have an output in every repetition
    Network::trace(g);
    for (layer_output const& layer : g.path.layers) {
        f(layer.name, layer.node);
    }
}

// The node of the layer that ran last with this name; -1 if there is none.
template <class Network, fixed_string Name>
constexpr int layer_node(ir::graph& g) {
    int found = -1;
    for_each_layer<Network>(
        g, [&](path const& name, int node) { found = is_spelt(name, Name.view()) ? node : found; });
    return found;
}
template <class Network, fixed_string Name>
constexpr bool has_layer() {
    ir::graph g{false};
    return layer_node<Network, Name>(g) >= 0;
}

// "0, 1, head".
template <class Network, class Put>
constexpr void spell_layers(Put put) {
    ir::graph g{false};
    bool first = true;
    for_each_layer<Network>(g, [&](path const& name, int) {
        if (!first) {
            put(',');
            put(' ');
        }
        first = false;
        name.write(put);
    });
}
template <class Network>
constexpr size_t length_of_layers() {
    size_t count = 0;
    spell_layers<Network>([&](char) { ++count; });
    return count;
}
template <class Network>
constexpr auto text_of_layers() {
    char text[length_of_layers<Network>() + 1]{};
    char* end = text;
    spell_layers<Network>([&](char c) { *end++ = c; });
    return fixed_string{text};
}

template <fixed_string Name>
struct layer_recipe {
    static constexpr bool uses_all = false; // what only later layers read is not computed
    template <class Network>
    static constexpr ir::results build(ir::graph& g) {
        ir::results r;
        r.outputs.push(of_each_sample(g, layer_node<Network, Name>(g)));
        return r;
    }
};

// A model as predictions see it whose only output is that of an inner layer.
template <class Model, fixed_string Name>
class layer_model {
public:
    using network_type = typename Model::network_type;
    using policy_type = typename Model::policy_type;
    using value_type = typename Model::value_type;
    using device = typename Model::device;
    static constexpr size_t capacity = Model::capacity;
    static constexpr auto const& prediction_plan =
        compiled_step<layer_recipe<Name>, network_type, device, capacity, false>::value;
    static constexpr auto prediction_sizes =
        ir::sizes_on<device>({0, 0, prediction_plan.elements(ir::region::batch),
                              prediction_plan.elements(ir::region::workspace)},
                             prediction_plan);
    static constexpr std::ptrdiff_t flops_per_sample = prediction_plan.flops();

    // A shape with the same elements in the same order.
    static constexpr ir::extents size = prediction_plan.outputs[0].size;
    using output_shapes =
        type_list<std::conditional_t<size.in_logical_order(), shape<size_t(size.count())>,
                                     shape<size_t(size.channels), size_t(size.pixels), 1>>>;

    explicit layer_model(Model const& m) : model_{m} {}
    auto data() const { return model_.data(); }
    std::uint64_t seed_value() const { return model_.seed_value(); }
    devices const& chosen_devices() const { return model_.chosen_devices(); }
    model_access& access() const { return model_.access(); }
    void finish_changes() const { model_.finish_changes(); }

private:
    Model const& model_;
};

} // namespace detail

// The output of an inner layer for every sample, in logical order, one after the other, as of
// predict(): of cn::named<"body", …> by its name, of other layers of a chain by their position,
// "3", as in names of parameters, within blocks "3.shortcut" or "body.0"; where a layer runs
// several times, of its last run. Only the layers up to it are computed. Allocates memory for the
// call. Throws castnet::error as predict() does.
//     auto const features = output_of<"body">(model, photos);
template <fixed_string Name, class Net, class Where, class Samples, class... Inputs>
std::vector<typename Where::value_type> output_of(model<Net, Where, Samples> const& m,
                                                  Inputs const&... inputs) {
    if constexpr (detail::has_layer<Net, Name>()) {
        using inner = detail::layer_model<model<Net, Where, Samples>, Name>;
        inner const layer{m};
        detail::prediction_executor<inner> executor{layer};
        detail::prediction_call const now{layer, "output_of", executor};
        return now->predict(detail::listed_outputs<0>, inputs...);
    } else {
        static_assert(layer_is_there<false, Name, detail::text_of_layers<Net>()>::checked);
        return {};
    }
}

} // namespace castnet
