// Embedding of ids, embedding<Vocabulary, Dimension>: a row of a table for each (PyTorch's and
// Keras' Embedding). ids<n, time> become (time, dimension), a single id becomes (dimension).
//
// Parameter: weight (vocabulary, dimension), normal with the standard deviation 1.
#pragma once

#include <castnet/graph/op/rows.hpp>
#include <castnet/nn/initializers.hpp>
#include <castnet/nn/scope.hpp>

#include <algorithm>

namespace castnet {

template <class Input>
inline constexpr bool embedding_takes = is_ids<Input>;
template <size_t Values, size_t Vocabulary>
inline constexpr bool ids_within = Values <= Vocabulary;

template <size_t Vocabulary, size_t Dimension>
struct embedding_layer {
    static constexpr char const* name = "embedding";
    static_assert(Vocabulary > 0 && Dimension > 0,
                  "castnet: embedding needs at least one row and one column");
    static constexpr size_t dimension = Dimension > 0 ? Dimension : 1; // one mistake is one error

    initializer weight_start = initializer{initial::normal, 1};
    int padding = -1;

    constexpr embedding_layer init(initializer weight) const { return {weight, padding}; }
    // The row of this id starts as 0 and has no gradient (PyTorch's padding_idx).
    constexpr embedding_layer padding_idx(size_t id) const {
        return {weight_start, static_cast<int>(id)};
    }

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        static_assert(
            embedding_takes<S>,
            "castnet: embedding needs ids, which are whole numbers: cn::input_ids<values, "
            "time>; see embedding_takes<input shape>");
        if constexpr (embedding_takes<S> && Vocabulary > 0 && Dimension > 0) {
            static_assert(ids_within<S::values, Vocabulary>,
                          "castnet: embedding: the ids have more values than the embedding has "
                          "rows; see ids_within<values, vocabulary>");
            ir::graph& g = *x.g;
            scope_guard const scope{g, layer_kind{"embedding"}};
            parameter_options options{.start = weight_start};
            if (padding >= static_cast<int>(Vocabulary)) {
                g.report(mistake::padding_beyond_rows);
            }
            options.zero_row = padding;
            // (Where ids are beyond the vocabulary, that mistake is one error.)
            constexpr size_t rows = std::max<size_t>(Vocabulary, S::values);
            auto const table = new_parameter<shape<rows, Dimension>>(g, "weight", options);
            return gather_rows(table, x, padding);
        } else {
            return symbol<shape<S::count, dimension>>{x.g, x.id};
        }
    }
};

template <size_t Vocabulary, size_t Dimension>
inline constexpr embedding_layer<Vocabulary, Dimension> embedding{};

template <class Input>
inline constexpr bool tied_output_takes = Input::rank > 0 && !channels_first<Input>;

// x times each row of an embedding's table: the logits of a language model whose output has the
// same weights as its input (Press & Wolf 2017). Both stand in shared<…> of one name:
//     x | shared<"tokens", embedding<vocabulary, 64>> | … | shared<"tokens",
//     tied_output<vocabulary>>
template <size_t Vocabulary>
struct tied_output_layer {
    static constexpr char const* name = "tied_output";

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        static_assert(tied_output_takes<S>,
                      "castnet: tied_output needs a vector (features) or a sequence (time, "
                      "features); see tied_output_takes<input shape>");
        if constexpr (tied_output_takes<S>) {
            scope_guard const scope{*x.g, layer_kind{"embedding"}};
            return times_rows(x, new_parameter<shape<Vocabulary, channels_of<S>>>(
                                     *x.g, "weight", {.start = initializer{initial::normal, 1}}));
        } else {
            return symbol<shape<Vocabulary>>{x.g, x.id};
        }
    }
};
template <size_t Vocabulary>
inline constexpr tied_output_layer<Vocabulary> tied_output{};

} // namespace castnet
