// Table of a network's layers, shapes, parameters and planned memory, as Keras prints it.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/train/model.hpp>
#include <castnet/train/shape_text.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace castnet {

namespace detail {

[[gnu::noinline]] inline std::string with_commas(size_t n) {
    std::string text = string_of({n});
    for (size_t i = text.size(); i > 3; i -= 3) {
        text.insert(i - 3, 1, ',');
    }
    return text;
}

[[gnu::noinline]] inline std::string memory_text(size_t bytes) {
    char const* const units[] = {"B", "KB", "MB", "GB", "TB"};
    double amount = double(bytes);
    int unit = 0;
    while (amount >= 1024 && unit < 4) {
        amount /= 1024;
        ++unit;
    }
    return string_of({digits_of(amount, 2, std::chars_format::fixed), ' ', units[unit]});
}

struct summary_row {
    std::string layer, shape, parameters;
};

// The width of a table with these rows: that of its columns, which have room for the longest cells.
struct summary_widths {
    size_t layer = 34, shape = 26, parameters = 14;

    [[gnu::noinline]] explicit summary_widths(std::span<summary_row const> rows) {
        for (summary_row const& row : rows) {
            layer = std::max(layer, row.layer.size() + 1);
            shape = std::max(shape, row.shape.size() + 1);
        }
    }
    size_t all() const { return layer + shape + parameters; }
};

[[gnu::noinline]] inline void append_row(std::string& table, summary_row const& row,
                                         summary_widths const& width) {
    auto const gap = [](size_t columns, std::string const& cell) {
        return std::string(columns - std::min(columns, cell.size()), ' ');
    };
    append(table, {row.layer, gap(width.layer, row.layer), row.shape, gap(width.shape, row.shape),
                   gap(width.parameters, row.parameters), row.parameters, '\n'});
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

// The row of a layer.
struct layer_record {
    char const* name = nullptr;
    size_t position = 0; // in the chain; the input has none
    ir::axes shape{};    // of its output
    size_t parameters = 0;

    template <Shape S>
    constexpr void set(char const* layer, S) {
        name = layer;
        shape = ir::axes_of<S>;
    }
};

// The layer, with a record of its row.
template <class Layer>
struct recorded_layer {
    Layer const& layer;
    size_t position;
    layer_record& record;

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        ir::graph& g = *x.g;
        scope_guard const scope{g, static_cast<int>(position)};
        int const before = g.parameters.size();
        auto const y = layer(x);
        record.set(layer_name(layer), typename decltype(y)::shape_type{});
        record.position = position;
        for (int i = before; i < g.parameters.size(); ++i) {
            record.parameters += size_t(g.count_of(g.parameters[i]));
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
        ir::graph g{true};
        trace(new_input<input_shape>(g), std::make_index_sequence<sizeof...(Layers)>{});
    }

private:
    template <Symbol X, size_t... I>
    constexpr void trace(X x, std::index_sequence<I...>) {
        (void)(x | ... |
               recorded_layer<std::remove_cvref_t<decltype(Layers)>>{
                   Layers, positions_from<0, Layers...>.of[I], of[I + 1]});
    }
};

std::vector<summary_row> rows_of_layers(std::span<layer_record const> layers);

#ifndef __CUDA_ARCH__ // the host's work, which nvcc would read once more for the GPU

[[gnu::noinline]] inline std::vector<summary_row>
rows_of_layers(std::span<layer_record const> layers) {
    std::vector<summary_row> rows{{"Layer (type)", "Output shape", "Param #"}};
    for (size_t i = 0; i < layers.size(); ++i) {
        layer_record const& layer = layers[i];
        rows.push_back({i == 0 ? layer.name : string_of({layer.position, " (", layer.name, ")"}),
                        shape_text(layer.shape), with_commas(layer.parameters)});
    }
    return rows;
}

#endif

// "input", or "input 0" and so on where there are several.
template <class... S>
[[gnu::noinline]] void add_rows(std::vector<summary_row>& rows, char const* what, type_list<S...>) {
    size_t i = 0;
    (rows.push_back(
         {sizeof...(S) == 1 ? what : string_of({what, ' ', i++}), shape_text(ir::axes_of<S>), "0"}),
     ...);
}

template <class T>
inline constexpr bool is_sequential = false;
template <auto Input, auto... Layers>
inline constexpr bool is_sequential<sequential<Input, Layers...>> = true;

// A row for each layer, or for each input, parameter and output of a network that is not
// sequential, below the row of headings.
template <class Model>
std::vector<summary_row> rows_of_model() {
    using network_type = typename Model::network_type;
    if constexpr (is_sequential<network_type>) {
        static constexpr layer_records<network_type> records;
        return rows_of_layers(records.of);
    } else {
        std::vector<summary_row> rows{{"Name", "Shape", "Param #"}};
        add_rows(rows, "input", typename network_type::inputs{});
        for (size_t i = 0; i < Model::parameter_tensors(); ++i) {
            ir::placed_parameter const& p = Model::parameter_at(i);
            rows.push_back({p.name.text(), shape_text(p.shape), with_commas(size_t(p.count()))});
        }
        add_rows(rows, "output", typename Model::output_shapes{});
        return rows;
    }
}

[[gnu::noinline]] inline void append_total(std::string& table, char const* what, size_t count,
                                           size_t bytes) {
    append(table, {what, with_commas(count), " (", memory_text(bytes), ")\n"});
}

} // namespace detail

// The table for a model. Parameters that are not trained are the frozen ones and running
// statistics.
template <class Net, class Where, class Batch>
[[gnu::noinline]] std::string summary(model<Net, Where, Batch> const& m) {
    constexpr size_t size = sizeof(typename Where::value_type);
    auto const rows = detail::rows_of_model<model<Net, Where, Batch>>();
    detail::summary_widths const width{rows};
    std::string const rule(width.all(), '_'), heavy(width.all(), '=');
    std::string table = string_of({rule, '\n'});
    for (size_t i = 0; i < rows.size(); ++i) {
        detail::append_row(table, rows[i], width);
        append(table, {i == 0 ? heavy + '\n' : ""});
    }
    size_t trained = 0, others = 0;
    for (size_t i = 0; i < m.parameter_tensors(); ++i) {
        ir::placed_parameter const& p = m.parameter_at(i);
        (p.trainable ? trained : others) += size_t(p.count());
    }
    append(table, {heavy, '\n'});
    detail::append_total(table, "Total params: ", trained + others, (trained + others) * size);
    detail::append_total(table, "Trainable params: ", trained, trained * size);
    detail::append_total(table, "Non-trainable params: ", others, others * size);
    append(table, {"Prediction memory: ",
                   detail::memory_text(m.parameter_bytes + m.prediction_bytes + m.prepared_bytes),
                   " (batch of ", m.capacity, ")\n", rule, '\n'});
    return table;
}

// The memory of a training step: parameters, gradients, optimizer state, activations; with several
// devices, also that of each without the batch.
template <class Training>
[[gnu::noinline]] std::string memory_report(Training const&) {
    std::string text;
    auto const line = [&](std::string_view what, size_t bytes) {
        append(text, {what, detail::memory_text(bytes), '\n'});
    };
    line("Training memory:      ", Training::bytes);
    line("  parameters          ", Training::bytes - Training::executor_bytes);
    line("  gradients           ", Training::gradient_bytes);
    line("  optimizer state     ", Training::optimizer_bytes);
    line("  batch               ", Training::batch_bytes);
    line("  activations         ", Training::workspace_bytes);
    if constexpr (constexpr int count = Training::training_plan().sizes.devices; count > 1) {
        for (int i = 0; i < count; ++i) {
            line(string_of({"  on device ", i, std::string(i < 10 ? 9 : 8, ' ')}),
                 Training::device_bytes(i));
        }
    }
    return text;
}

} // namespace castnet
