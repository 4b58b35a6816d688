// Networks as types: sequential<input<…>, layers…> and network<function, input<…>…>; an input of
// whole numbers is input_ids<…>.
//
// A network has
//   inputs                       type_list of the shapes of one sample of each input
//   trace(graph&)                adds its nodes; returns its outputs
//   parameter_count              of trainable and frozen parameters; running statistics do not
//   count
// and is itself callable on symbols, so that a network serves as a layer of another.
#pragma once

#include <castnet/nn/containers.hpp>
#include <castnet/nn/volume.hpp>

namespace castnet {

template <class... T>
struct type_list {
    static constexpr size_t size = sizeof...(T);
};

template <size_t... D>
struct input_layer {
    using shape_type = shape<D...>;
};
template <size_t Channels, size_t Depth, size_t Height, size_t Width>
struct input_layer<Channels, Depth, Height, Width> {
    using shape_type = volume<Channels, Depth, Height, Width>;
};
// The shape of one sample; three axes are those of an image: channels, height, width; four those of
// a volume: channels, depth, height, width.
template <size_t... D>
inline constexpr input_layer<D...> input{};

template <size_t Values, size_t... D>
struct input_ids_layer {
    using shape_type = ids<Values, D...>;
};
// The shape of one sample of whole numbers from 0 to Values - 1: input_ids<20'000, 200> are 200
// words of a vocabulary, input_ids<7> is a single category.
template <size_t Values, size_t... D>
inline constexpr input_ids_layer<Values, D...> input_ids{};

// The length of a sequence of at most Time steps.
template <size_t Time>
inline constexpr input_ids_layer<Time + 1> input_length{};

// The outputs of a network, one or several.
template <Shape... S>
struct output_list {
    int ids[sizeof...(S)];
    using shapes = type_list<S...>;
    static constexpr std::string_view name(size_t) { return {}; }
};
template <class Outputs, fixed_string... Names>
struct named_outputs : Outputs {
    static constexpr std::string_view name(size_t output) {
        std::string_view const names[] = {Names.view()...};
        return names[output];
    }
};

template <size_t Names, size_t Outputs>
inline constexpr bool one_name_each = Names == 0 || Names == Outputs;

// Result of a function with several outputs; outputs<"kind", "box">(a, b) names them in scores and
// histories (nn/output_losses.hpp).
template <fixed_string... Names, Shape... S>
constexpr auto outputs(symbol<S>... x) {
    static_assert(one_name_each<sizeof...(Names), sizeof...(S)>,
                  "castnet: outputs<names...> needs a name for each output; see "
                  "one_name_each<names, outputs>");
    if constexpr (sizeof...(Names) != sizeof...(S)) {
        return output_list<S...>{{x.id...}};
    } else {
        return named_outputs<output_list<S...>, Names...>{{{x.id...}}};
    }
}

// Classes, so that every compiler prints the types.
template <class Function, class... Symbols>
struct function_takes_inputs {
    static constexpr bool checked = requires(Function const& f) { f(Symbols{}...); };
    static_assert(
        checked,
        "castnet: the function of a network cannot be called with these symbols, one for "
        "each input: constexpr auto operator()(auto x, auto y) const for two inputs; or an "
        "error within it stands above: symbols take cn::exp, not std::exp; see "
        "function_takes_inputs<function, symbols...>");
};
template <class Result>
struct function_returns {
    static_assert(detail::never<Result>,
                  "castnet: the function of a network returns a symbol, or cn::outputs(a, b) where "
                  "it has several outputs; see function_returns<result>");
    static constexpr bool checked = true;
};

namespace detail {

template <Shape S>
constexpr symbol<S> new_input(ir::graph& g) {
    ir::node n = ir::graph::shaped<S>(op::input, true);
    n.attribute = g.inputs++;
    return emit<S>(g, n);
}

template <Shape S>
constexpr output_list<S> as_outputs(symbol<S> x) {
    return {{x.id}};
}
// After a failed check, a placeholder, so that no other errors follow: the first input.
inline constexpr output_list<shape<1>> no_outputs{};
template <class Result>
    requires(!Symbol<Result>)
constexpr auto as_outputs(Result list) {
    if constexpr (requires { typename Result::shapes; }) {
        return list;
    } else {
        static_assert(function_returns<Result>::checked);
        return no_outputs;
    }
}

// Trainable and frozen parameters, without running statistics.
template <class Network>
constexpr size_t count_parameters() {
    ir::graph g{true};
    Network::trace(g);
    int count = 0;
    for (parameter const& p : g.parameters) {
        count += p.kind == role::statistic ? 0 : g.count_of(p);
    }
    return static_cast<size_t>(count);
}

} // namespace detail

template <class>
inline constexpr bool is_input = false;
template <size_t... D>
inline constexpr bool is_input<input_layer<D...>> = true;
template <size_t Values, size_t... D>
inline constexpr bool is_input<input_ids_layer<Values, D...>> = true;

// A class, so that every compiler prints the type.
template <class Given>
struct begins_with_input {
    static_assert(
        is_input<Given>,
        "castnet: a network must begin with its input, cn::input<channels, height, width> or "
        "cn::input<features>; see begins_with_input<type found>");
    static constexpr bool checked = true;
};

namespace detail {

// The input's shape; after a failed check, a placeholder, so that no other errors follow.
template <class Given>
struct shape_of_input {
    static_assert(begins_with_input<Given>::checked);
    using type = shape<1>;
};
template <class Given>
    requires(is_input<Given>)
struct shape_of_input<Given> {
    using type = typename Given::shape_type;
};
template <auto Input>
using shape_of_input_t = typename shape_of_input<std::remove_cvref_t<decltype(Input)>>::type;

} // namespace detail

template <class Given>
struct begins_with_function {
    static_assert(!is_input<Given>,
                  "castnet: cn::network begins with a function of symbols, cn::network<function{}, "
                  "cn::input<...>>; layers after an input are cn::sequential<cn::input<...>, "
                  "layers...>");
    static constexpr bool checked = !is_input<Given>;
};

namespace detail {

// After a failed check, a placeholder again.
template <class F, auto... Inputs>
struct inputs_of_network {
    using type = type_list<shape_of_input_t<Inputs>...>;
};
template <class F, auto... Inputs>
    requires(is_input<F>)
struct inputs_of_network<F, Inputs...> {
    static_assert(begins_with_function<F>::checked);
    using type = type_list<shape<1>>;
};

template <class F, class... S>
inline constexpr bool takes_inputs = function_takes_inputs<F const, symbol<S>...>::checked;
template <class F, class... S>
    requires(is_input<F>)
inline constexpr bool takes_inputs<F, S...> = false;

} // namespace detail

template <class Expected, class Given>
inline constexpr bool same_input = std::is_same_v<Expected, Given>;

// A chain of layers after one input. Parameters are named as in PyTorch's Sequential: "0.weight"
// belongs to the first layer after the input.
template <auto Input, auto... Layers>
struct sequential {
    using input_shape = detail::shape_of_input_t<Input>;
    using inputs = type_list<input_shape>;

    static constexpr auto trace(ir::graph& g) {
        return detail::as_outputs(detail::chain<Layers...>(detail::new_input<input_shape>(g)));
    }

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        static_assert(same_input<input_shape, S>,
                      "castnet: a network used as a layer gets an input of another shape than its "
                      "own; see same_input<expected, given>");
        return block<Layers...>(x);
    }

    static constexpr size_t parameter_count = detail::count_parameters<sequential>();
};

// Any graph: a function of symbols, one for each input. F is an object of a class whose operator()
// takes symbols and returns one, or outputs(a, b, …) for several. As a layer, it has the names of
// its parameters behind its position, its name or, in a function, its number: "network_2.dense_1".
template <auto F, auto... Inputs>
struct network {
    using inputs =
        typename detail::inputs_of_network<std::remove_cvref_t<decltype(F)>, Inputs...>::type;

    static constexpr auto trace(ir::graph& g) {
        return call(g, inputs{}, std::make_index_sequence<inputs::size>{});
    }

    template <Shape... S>
    constexpr auto operator()(symbol<S>... x) const {
        static_assert(
            same_input<inputs, type_list<S...>>,
            "castnet: a network used as a layer gets inputs of other shapes than its own; "
            "see same_input<expected, given>");
        ir::graph* g = nullptr;
        (..., void(g = x.g));
        if (g->path.positioned) { // names as when it is alone, behind those of its place
            g->path.positioned = false;
            return F(x...);
        }
        scope_guard const scope{*g, layer_kind{"network"}};
        return F(x...);
    }

    static constexpr size_t parameter_count = detail::count_parameters<network>();

private:
    template <Shape... S, size_t... I>
    static constexpr auto call(ir::graph& g, type_list<S...>, std::index_sequence<I...>) {
        int const ids[] = {detail::new_input<S>(g).id...}; // braces: in the order of the list
        if constexpr (!detail::takes_inputs<std::remove_cvref_t<decltype(F)>, S...>) {
            return detail::no_outputs;
        } else if constexpr (std::is_void_v<decltype(F(symbol<S>{}...))>) {
            static_assert(function_returns<decltype(F(symbol<S>{}...))>::checked);
            return detail::no_outputs;
        } else {
            return detail::as_outputs(F(symbol<S>{&g, ids[I]}...));
        }
    }
};

template <class T>
concept Network = requires(ir::graph& g) {
    typename T::inputs;
    T::trace(g);
};

} // namespace castnet
