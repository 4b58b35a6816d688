// A table of a network's layers, shapes, parameters and planned memory, as Keras prints it.
#pragma once

#include <castnet/train/model.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace castnet {

namespace detail {

inline std::string with_commas(size_t n) {
    std::string const digits = std::to_string(n);
    std::string text;
    for (size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) {
            text += ',';
        }
        text += digits[i];
    }
    return text;
}

inline std::string memory_text(size_t bytes) {
    char const* const units[] = {"B", "KB", "MB", "GB", "TB"};
    double amount = double(bytes);
    int unit = 0;
    while (amount >= 1024 && unit < 4) {
        amount /= 1024;
        ++unit;
    }
    char text[32];
    std::snprintf(text, sizeof text, "%.2f %s", amount, units[unit]);
    return text;
}

template <Shape S>
std::string shape_text() {
    std::string text;
    for (int i = 0; i < int(S::rank); ++i) {
        text += (i > 0 ? ", " : "") + std::to_string(S::extent[i]);
    }
    return "(" + text + ")";
}

struct summary_row {
    std::string layer, output, parameters;
};

inline std::string summary_line(summary_row const& r) {
    auto const cell = [](std::string const& text, size_t width, bool right) {
        std::string const gap(width > text.size() ? width - text.size() : 0, ' ');
        return right ? gap + text : text + gap;
    };
    return cell(r.layer, 34, false) + cell(r.output, 26, false) + cell(r.parameters, 14, true) +
           "\n";
}

template <class Layer>
std::string layer_name(Layer const&) {
    if constexpr (requires { Layer::name; }) {
        return Layer::name;
    } else {
        return "layer";
    }
}
template <fn F>
std::string layer_name(elementwise<F> const&) {
    return function<F>::name;
}

template <auto First, auto... Rest, class Add, class X>
void add_rows(Add const& add, X x) {
    auto const y = add(First, x);
    if constexpr (sizeof...(Rest) > 0) {
        add_rows<Rest...>(add, y);
    }
}

// A row for each layer of a sequential network.
template <auto Input, auto... Layers>
std::vector<summary_row> layer_rows(sequential<Input, Layers...>) {
    using input_shape = typename sequential<Input, Layers...>::input_shape;
    std::vector<summary_row> rows{{"input", shape_text<input_shape>(), "0"}};
    graph g{true};
    size_t position = 0, counted = 0;
    auto const add = [&](auto layer, auto x) {
        scope_guard const scope{g, int(position)};
        auto const y = layer(x);
        size_t count = 0;
        for (parameter const& p : g.parameters) {
            count += size_t(p.count());
        }
        rows.push_back({std::to_string(position++) + " (" + layer_name(layer) + ")",
                        shape_text<typename decltype(y)::shape_type>(),
                        with_commas(count - counted)});
        counted = count;
        return y;
    };
    add_rows<Layers...>(add, new_input<input_shape>(g));
    return rows;
}

// Any other network: a row for each parameter.
template <class Model>
std::vector<summary_row> parameter_rows() {
    std::vector<summary_row> rows;
    for (size_t i = 0; i < Model::parameter_count(); ++i) {
        placed_parameter const& p = Model::parameter_at(i);
        std::string shape;
        for (int k = 0; k < p.rank; ++k) {
            shape += (k > 0 ? ", " : "") + std::to_string(p.dims[k]);
        }
        rows.push_back({p.name.text(), "(" + shape + ")", with_commas(size_t(p.count()))});
    }
    return rows;
}

template <class T>
inline constexpr bool is_sequential = false;
template <auto Input, auto... Layers>
inline constexpr bool is_sequential<sequential<Input, Layers...>> = true;

template <class Model>
std::vector<summary_row> rows_of() {
    using network_type = typename Model::network_type;
    if constexpr (is_sequential<network_type>) {
        return layer_rows(network_type{});
    } else {
        return parameter_rows<Model>();
    }
}

} // namespace detail

// The table for a model. Parameters that are not trained are the frozen ones and running
// statistics.
template <class Net, class Where, class Batch>
std::string summary(model<Net, Where, Batch> const& m) {
    using T = typename Where::value_type;
    std::string const rule(74, '_'), heavy(74, '=');
    std::string text = rule + "\n" +
                       detail::summary_line({"Layer (type)", "Output shape", "Param #"}) + heavy +
                       "\n";
    for (detail::summary_row const& row : detail::rows_of<model<Net, Where, Batch>>()) {
        text += detail::summary_line(row);
    }
    size_t trained = 0, others = 0;
    for (size_t i = 0; i < m.parameter_count(); ++i) {
        placed_parameter const& p = m.parameter_at(i);
        (p.trainable ? trained : others) += size_t(p.count());
    }
    auto const total = [&](char const* what, size_t count) {
        text += std::string(what) + detail::with_commas(count) + " (" +
                detail::memory_text(count * sizeof(T)) + ")\n";
    };
    text += heavy + "\n";
    total("Total params: ", trained + others);
    total("Trainable params: ", trained);
    total("Non-trainable params: ", others);
    text += "Prediction memory: " + detail::memory_text(m.parameter_bytes + m.prediction_bytes) +
            " (batch of " + std::to_string(m.capacity) + ")\n";
    return text + rule + "\n";
}

// The memory of a training step: parameters, gradients, optimizer state, activations.
template <class Training>
std::string memory_report(Training const&) {
    auto const line = [](char const* what, size_t bytes) {
        return std::string(what) + detail::memory_text(bytes) + "\n";
    };
    return line("Training memory:      ", Training::bytes) +
           line("  parameters          ", Training::bytes - Training::arena_bytes) +
           line("  gradients           ", Training::gradient_bytes) +
           line("  optimizer state     ", Training::optimizer_bytes) +
           line("  batch               ", Training::batch_bytes) +
           line("  activations         ", Training::workspace_bytes);
}

} // namespace castnet
