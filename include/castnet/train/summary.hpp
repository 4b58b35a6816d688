// A table of a network's layers, shapes, parameters and planned memory, as Keras prints it.
#pragma once

#include <castnet/train/model.hpp>

#include <cstdio>
#include <span>
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

template <class Extent>
std::string shape_text(Extent const* extents, int rank) {
    std::string text;
    for (int i = 0; i < rank; ++i) {
        text += (i > 0 ? ", " : "") + std::to_string(extents[i]);
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
constexpr char const* layer_name(Layer const&) {
    if constexpr (requires { Layer::name; }) {
        return Layer::name;
    } else {
        return "layer";
    }
}
template <fn F>
constexpr char const* layer_name(elementwise<F> const&) {
    return function<F>::name;
}

// What the table says of a layer.
struct layer_record {
    char const* name = nullptr;
    int rank = 0;
    size_t extent[4]{}; // of its output
    size_t parameters = 0;

    template <Shape S>
    constexpr void set(char const* layer, S) {
        name = layer;
        rank = int(S::rank);
        for (int i = 0; i < rank; ++i) {
            extent[i] = S::extent[i];
        }
    }
};

// The layer, leaving its record.
template <class Layer>
struct recorded_layer {
    Layer const& layer;
    int position;
    layer_record& record;

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        graph& g = *x.g;
        scope_guard const scope{g, position};
        int const before = g.parameters.size();
        auto const y = layer(x);
        record.set(layer_name(layer), typename decltype(y)::shape_type{});
        for (int i = before; i < g.parameters.size(); ++i) {
            record.parameters += size_t(g.parameters[i].count());
        }
        return y;
    }
};

// The records of a sequential network, made while compiling: tracing at run time would compile
// every layer to machine code.
template <class Network>
struct layer_records;
template <auto Input, auto... Layers>
struct layer_records<sequential<Input, Layers...>> {
    layer_record of[1 + sizeof...(Layers)]{};

    constexpr layer_records() {
        using input_shape = typename sequential<Input, Layers...>::input_shape;
        of[0].set("input", input_shape{});
        graph g{true};
        trace(new_input<input_shape>(g), std::make_index_sequence<sizeof...(Layers)>{});
    }

private:
    template <Symbol X, size_t... I>
    constexpr void trace(X x, std::index_sequence<I...>) {
        (void)(x | ... |
               recorded_layer<std::remove_cvref_t<decltype(Layers)>>{Layers, int(I), of[I + 1]});
    }
};

inline std::vector<summary_row> layer_rows(std::span<layer_record const> layers) {
    std::vector<summary_row> rows;
    for (layer_record const& layer : layers) {
        std::string const name =
            rows.empty() ? layer.name
                         : std::to_string(rows.size() - 1) + " (" + std::string(layer.name) + ")";
        rows.push_back({name, shape_text(layer.extent, layer.rank), with_commas(layer.parameters)});
    }
    return rows;
}

// Any other network: a row for each parameter.
template <class Model>
std::vector<summary_row> parameter_rows() {
    std::vector<summary_row> rows;
    for (size_t i = 0; i < Model::parameter_count(); ++i) {
        placed_parameter const& p = Model::parameter_at(i);
        rows.push_back({p.name.text(), shape_text(p.dims, p.rank), with_commas(size_t(p.count()))});
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
        static constexpr layer_records<network_type> records;
        return layer_rows(records.of);
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

// The memory of a training step: parameters, gradients, optimizer state, activations; and what
// each of several devices has of all but the batch.
template <class Training>
std::string memory_report(Training const&) {
    auto const line = [](char const* what, size_t bytes) {
        return std::string(what) + detail::memory_text(bytes) + "\n";
    };
    std::string devices;
    if constexpr (constexpr int count = Training::training_plan.sizes.devices; count > 1) {
        for (int i = 0; i < count; ++i) {
            devices += "  on device " + std::to_string(i) + std::string(i < 10 ? 9 : 8, ' ') +
                       detail::memory_text(Training::device_bytes(i)) + "\n";
        }
    }
    return line("Training memory:      ", Training::bytes) +
           line("  parameters          ", Training::bytes - Training::arena_bytes) +
           line("  gradients           ", Training::gradient_bytes) +
           line("  optimizer state     ", Training::optimizer_bytes) +
           line("  batch               ", Training::batch_bytes) +
           line("  activations         ", Training::workspace_bytes) + devices;
}

} // namespace castnet
