// Parameters of a model by names that the compiler knows, and their shapes.
#pragma once

#include <castnet/core/fixed_string.hpp>
#include <castnet/graph/parameter.hpp>
#include <castnet/tensor/owning_tensor.hpp>

#include <string_view>
#include <utility>

namespace castnet {

// Classes, so that every compiler prints their arguments.
template <bool Found, fixed_string Name, fixed_string Known>
struct parameter_is_there {
    static_assert(Found, "castnet: the network has no parameter of this name; see "
                         "parameter_is_there<found, name, the names that there are>");
    static constexpr bool checked = true;
};
template <class Parameter, class Given>
struct parameter_has_shape {
    static_assert(std::is_same_v<Parameter, Given>,
                  "castnet: model::set: the tensor has another shape than the parameter; see "
                  "parameter_has_shape<parameter, given>");
    static constexpr bool checked = true;
};

namespace detail {

constexpr bool is_spelt(path const& name, std::string_view text) {
    size_t at = 0;
    bool same = true;
    name.write([&](char c) {
        same = same && at < text.size() && text[at] == c;
        ++at;
    });
    return same && at == text.size();
}

// The number of the parameter of this name; their count if there is none.
template <class Model>
constexpr size_t parameter_number(std::string_view name) {
    size_t i = 0;
    while (i < Model::parameter_tensors() && !is_spelt(Model::parameter_at(i).name, name)) {
        ++i;
    }
    return i;
}

// "0.weight, 0.bias"
template <class Model, class Put>
constexpr void spell_parameters(Put put) {
    for (size_t i = 0; i < Model::parameter_tensors(); ++i) {
        if (i > 0) {
            put(',');
            put(' ');
        }
        Model::parameter_at(i).name.write(put);
    }
}
template <class Model>
constexpr auto text_of_parameters() {
    constexpr size_t length = [] {
        size_t count = 0;
        spell_parameters<Model>([&](char) { ++count; });
        return count;
    }();
    char text[length + 1]{};
    char* end = text;
    spell_parameters<Model>([&](char c) { *end++ = c; });
    return fixed_string{text};
}

template <class Model, size_t Number, size_t... Axis>
auto shape_of_parameter(std::index_sequence<Axis...>)
    -> shape<size_t(Model::parameter_at(Number).shape.extent[Axis])...>;

// The shape of the parameter of this name, in logical order.
template <class Model, fixed_string Name>
constexpr auto parameter_shape() {
    constexpr size_t number = parameter_number<Model>(Name.view());
    if constexpr (number < Model::parameter_tensors()) {
        constexpr auto rank = size_t(Model::parameter_at(number).shape.rank);
        return decltype(shape_of_parameter<Model, number>(std::make_index_sequence<rank>{})){};
    } else {
        static_assert(parameter_is_there<false, Name, text_of_parameters<Model>()>::checked);
        return shape<>{};
    }
}

} // namespace detail
} // namespace castnet
