// repeat<N, block>: N blocks one after another, compiled as one.
//
//     // a GPT of 12 blocks, which costs the compiler what one block costs
//     cn::sequential<cn::input_ids<256, 64>, cn::embedding<128>, cn::learned_positions,
//                    cn::repeat<12, cn::transformer_encoder_layer<4, gpt, cn::gelu>>, …>
//
// Everything is as if the blocks were written one by one: each has parameters of its own, named by
// its position, and draws its own random numbers. So files, initial values and results are the
// same, to the last bit.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/nn/chain.hpp>

#include <type_traits>
#include <utility>

namespace castnet {

// A class, so that every compiler prints the shapes.
template <class Input, class Output>
struct repeated_block_keeps_shape {
    static_assert(
        std::is_same_v<Input, Output>,
        "castnet: repeat: its block changes the shape, so it cannot be applied to its own result; "
        "see repeated_block_keeps_shape<input, output>");
    static constexpr bool checked = true;
};

// A class, so that every compiler prints the types.
template <class Block, class Input, class... More>
struct repeated_block_takes {
    static constexpr bool checked = [] {
        if constexpr (sizeof...(More) == 0) {
            return true; // or not, which the block says itself
        } else if constexpr (TransparentLayer<Block>) {
            return requires(Block const& b, Input x, More... more) {
                b.template from<0>(x, more...);
            };
        } else {
            return requires(Block const& b, Input x, More... more) { b(x, more...); };
        }
    }();
    static_assert(checked,
                  "castnet: repeat<N, block>(x, more...): the block cannot be called with what "
                  "comes after x, such as masks: write one with operator()(auto x, auto mask), "
                  "whose layers take them; see repeated_block_takes<block, x, more...>");
};

namespace detail {

// A repeated block while it is traced.
class repeat_trace {
public:
    constexpr repeat_trace(ir::graph& g, int repetitions, int positions)
        : g_{g}, number_{g.repeats.size()}, streams_{g.random_streams} {
        g.repeats.push({repetitions, g.path.prefix.depth, positions, 0});
    }

    // The block's argument: the carry, `initial` for the first repetition.
    constexpr int begin(int initial) { return carry_ = carry_node(g_, number_, initial); }

    // Result of the last repetition, where the block ends with node `next`.
    constexpr int end(int next) {
        int const result = repeated_node(g_, carry_, next);
        ir::repeated_block& mine = g_.repeats[number_];
        mine.random_streams = g_.random_streams - streams_;
        g_.random_streams += (mine.count - 1) * mine.random_streams;
        for (int i = carry_; i < result; ++i) {
            if (g_.nodes[i].device != g_.device) {
                g_.report(mistake::repeated_block_on_devices);
            }
        }
        return result;
    }

private:
    ir::graph& g_;
    int number_, streams_;
    int carry_ = -1;
};

} // namespace detail

// block, block, …, N times, where the result of each has the shape of its input. In a chain they
// are numbered like the layers around them, "3.weight", "4.weight"; elsewhere from 0 on, as in
// named<"blocks", repeat<12, block>>, whose names are those of a ModuleList: "blocks.0.weight".
//
// As a function it takes what every block is called with besides, such as masks, which gets no
// gradient: repeat<12, encoder>(x, length_mask(lengths)).
//
// Compiling costs what a single block costs: it is traced, differentiated and planned once, and a
// step runs it N times, with the parameters and the memory of each repetition. Activations that the
// gradient reads are kept for all repetitions; the whole takes the memory of the blocks written out
// and, between them, passes in the policy's own type also where products read bfloat16. A block has
// all of its parameters to itself, and no repeat<…> within.
template <size_t N, auto Block>
struct repeat_layer {
    static constexpr char const* name = "repeat";
    static constexpr bool transparent = true;
    static_assert(N > 0, "castnet: repeat<N, block> needs at least one repetition");

    template <Symbol X, class... More>
    constexpr auto operator()(X x, More const&... more) const {
        scope_guard const scope{*x.g, layer_kind{"block"}};
        return from<0>(x, more...);
    }
    template <size_t First, Shape S, class... More>
    constexpr auto from(symbol<S> x, More const&... more) const {
        if constexpr (!repeated_block_takes<std::remove_cvref_t<decltype(Block)>, symbol<S>,
                                            More...>::checked) {
            return x;
        } else {
            auto const placed = detail::placed<First>(Block);
            auto const block = [&](symbol<S> before) { return placed(before, more...); };
            using result = typename std::remove_cvref_t<decltype(block(x))>::shape_type;
            static_assert(repeated_block_keeps_shape<S, result>::checked);
            if constexpr (std::is_same_v<S, result>) {
                return N == 1 || x.g->unrolls || x.g->repeat >= 0 ? one_by_one(block, x)
                                                                  : repeated(block, x);
            } else {
                return block(x);
            }
        }
    }

private:
    static constexpr int positions =
        static_cast<int>(positions_of<std::remove_cvref_t<decltype(Block)>>);

    template <class Placed, class S>
    static constexpr symbol<S> repeated(Placed const& block, symbol<S> x) {
        detail::repeat_trace trace{*x.g, static_cast<int>(N), positions};
        symbol<S> const last = block(symbol<S>{x.g, trace.begin(detail::sample_id(x))});
        return {x.g, trace.end(last.id)};
    }

    // Each with nodes of its own: where each has an output or a state that is asked for.
    template <class Placed, class S>
    static constexpr symbol<S> one_by_one(Placed const& block, symbol<S> x) {
        ir::graph& g = *x.g;
        if (g.repeat >= 0) {
            g.report(mistake::repeated_block_in_block);
        }
        int const part = g.path.prefix.depth;
        for (int k = 0; k < static_cast<int>(N); ++k) {
            int const parameters = g.parameters.size(), layers = g.path.layers.size();
            x = block(x);
            for (int i = parameters; i < g.parameters.size(); ++i) {
                path& own = g.parameters[i].name;
                own = own.moved(part, k * positions);
            }
            for (int i = layers; i < g.path.layers.size(); ++i) {
                path& own = g.path.layers[i].name;
                own = own.moved(part, k * positions);
            }
        }
        return x;
    }
};
template <size_t N, auto Block>
inline constexpr size_t positions_of<repeat_layer<N, Block>> =
    N * positions_of<std::remove_cvref_t<decltype(Block)>>;
template <size_t N, auto Block>
inline constexpr repeat_layer<N, Block> repeat{};

} // namespace castnet
