// Optimizer update by rules that depend on whole parameters. Each parameter is cut into pieces, one
// for each block, which leaves its part of a norm; who reads the norm adds the parts up in order.
#pragma once

#include <castnet/core/square_root.hpp>
#include <castnet/device/cuda/optimize.hpp>
#include <castnet/device/cuda/tuning.hpp>
#include <castnet/optim/optimizer.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace castnet::cuda {

// A piece of a parameter, in multiples of the lanes that one thread accesses.
struct parameter_piece {
    std::ptrdiff_t first, last;     // elements of region::parameters
    unsigned first_piece, pieces;   // of its parameter
    std::ptrdiff_t outputs, others; // of a weight as a matrix; else 0
    penalty cost;
    update_group group;
};

// Calls f(parameter's number, first, last, first piece, pieces) for each piece of the trainable
// parameters of a plan.
template <class T, class Plan, class F>
constexpr void for_each_piece(Plan const& plan, F const& f) {
    constexpr std::ptrdiff_t least = 4096, most = block_threads; // elements of one; pieces
    unsigned next = 0;
    for (std::size_t i = 0; i < std::size(plan.parameters); ++i) {
        placed_parameter const& p = plan.parameter(i);
        if (!p.trainable || p.shape.rank == 0) {
            continue;
        }
        std::ptrdiff_t const end = p.offset + aligned(p.count(), lanes_of<T>);
        std::ptrdiff_t const wanted = (p.count() + most - 1) / most;
        std::ptrdiff_t const size = aligned(wanted > least ? wanted : least, lanes_of<T>);
        auto const pieces = static_cast<unsigned>((end - p.offset + size - 1) / size);
        for (unsigned k = 0; k < pieces; ++k) {
            std::ptrdiff_t const first = p.offset + std::ptrdiff_t{k} * size, last = first + size;
            f(i, first, last < end ? last : end, next, pieces);
        }
        next += pieces;
    }
}
template <class T, class Plan>
constexpr std::ptrdiff_t count_pieces(Plan const& plan) {
    std::ptrdiff_t count = 0;
    for_each_piece<T>(plan, [&](auto...) { ++count; });
    return count;
}
template <class T, class Plan>
std::vector<parameter_piece> pieces_of(Plan const& plan, std::span<update_group const> groups) {
    std::vector<parameter_piece> all;
    for_each_piece<T>(plan, [&](std::size_t i, std::ptrdiff_t first, std::ptrdiff_t last,
                                unsigned first_piece, unsigned pieces) {
        placed_parameter const& p = plan.parameter(i);
        std::ptrdiff_t const outputs = is_weight(p.kind) ? p.shape.extent[0] : 0;
        all.push_back({first, last, first_piece, pieces, outputs,
                       outputs > 0 ? p.count() / outputs : 0, p.cost, ir::group_at(groups, i)});
    });
    return all;
}

// Arguments of the kernels of such an update.
template <class Rule, int Slots, class T>
struct piecewise {
    update_values<Rule, T> const* now;
    parameter_piece const* pieces;
    unsigned count;
    T* parameters;
    T const* gradients;
    T* slots; // `stride` apart
    std::ptrdiff_t stride;
    T* directions;
    double* squares; // of gradients, of parameters, of directions: `count` of each

    static constexpr std::size_t shared_bytes = block_threads * sizeof(double);
    static constexpr auto each_slot = std::make_index_sequence<std::size_t(Slots)>{};

    // f(piece) for those of this block.
    template <class Block, class F>
    CASTNET_HD void for_each(Block const& block, F const& f) const {
        for (unsigned k = block.index(); k < count; k += block.blocks()) {
            if (pieces[k].group != no_group) {
                f(k, pieces[k]);
            }
        }
    }
    // f(i) for the first one of this thread's groups of lanes.
    template <class Block, class F>
    CASTNET_HD static void for_each_lanes(Block const& block, parameter_piece const& p,
                                          F const& f) {
        std::ptrdiff_t const step = std::ptrdiff_t{block.threads()} * lanes_of<T>;
        for (std::ptrdiff_t i = p.first + std::ptrdiff_t{block.thread()} * lanes_of<T>; i < p.last;
             i += step) {
            f(i);
        }
    }

    // The parameter's rule, which knows its gradient's norm.
    CASTNET_HD auto rule_of(parameter_piece const& p) const {
        auto rule = rule_of_group(now->rule, p.group);
        if constexpr (requires { rule.begin(p.outputs, p.others); }) {
            rule.begin(p.outputs, p.others);
        }
        if constexpr (requires { rule.set_gradient_norm(1.0); }) {
            rule.set_gradient_norm(norm(squares, p));
        }
        return rule;
    }
    CASTNET_HD double norm(double const* parts, parameter_piece const& p) const {
        double sum = 0;
        for (unsigned k = 0; k < p.pieces; ++k) {
            sum += parts[p.first_piece + k];
        }
        return square_root(sum);
    }

    CASTNET_HD void load_gradients(std::ptrdiff_t i, parameter_piece const& piece,
                                   T const (&p)[lanes_of<T>], T (&g)[lanes_of<T>]) const {
        load_lanes(gradients + i, g);
        for (int k = 0; k < lanes_of<T>; ++k) {
            g[k] =
                penalized_gradient(g[k], now->scale, p[k], T(piece.cost.l1), T(2 * piece.cost.l2));
        }
    }

    // f(parameter, lane, slots…), which may change them, for the lanes from i on.
    template <class F, std::size_t... S>
    CASTNET_HD void change(std::ptrdiff_t i, T (&p)[lanes_of<T>], F const& f,
                           std::index_sequence<S...>) const {
        T state[Slots + 1][lanes_of<T>];
        (..., load_lanes(slots + std::ptrdiff_t(S) * stride + i, state[S]));
        for (int k = 0; k < lanes_of<T>; ++k) {
            f(p[k], k, state[S][k]...);
        }
        (..., store_lanes(state[S], slots + std::ptrdiff_t(S) * stride + i));
    }

    // to[piece] = the sum of these numbers of all threads.
    template <class Block>
    CASTNET_HD static void leave_sum(Block const& block, double sum, double* to) {
        double* const all = block.template shared<double>();
        all[block.thread()] = sum;
        for (unsigned half = block.threads() / 2; half > 0; half /= 2) {
            block.sync();
            if (block.thread() < half) {
                all[block.thread()] += all[block.thread() + half];
            }
        }
        if (block.thread() == 0) {
            *to = all[0];
        }
        block.sync();
    }
};

// The squares of the gradients.
template <class Rule, int Slots, class T>
struct measure_body : piecewise<Rule, Slots, T> {
    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        this->for_each(block, [&](unsigned number, parameter_piece const& piece) {
            double sum = 0;
            this->for_each_lanes(block, piece, [&](std::ptrdiff_t i) {
                T p[lanes_of<T>], g[lanes_of<T>];
                load_lanes(this->parameters + i, p);
                this->load_gradients(i, piece, p, g);
                for (T const x : g) {
                    sum += double(x) * double(x);
                }
            });
            this->leave_sum(block, sum, this->squares + number);
        });
    }
};

// The update by a rule that needs nothing else.
template <class Rule, int Slots, class T>
struct update_body : piecewise<Rule, Slots, T> {
    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        this->for_each(block, [&](unsigned, parameter_piece const& piece) {
            auto const rule = this->rule_of(piece);
            this->for_each_lanes(block, piece, [&](std::ptrdiff_t i) {
                T p[lanes_of<T>], g[lanes_of<T>];
                load_lanes(this->parameters + i, p);
                this->load_gradients(i, piece, p, g);
                this->change(
                    i, p, [&](T& x, int k, auto&... slot) { rule(x, g[k], slot...); },
                    this->each_slot);
                store_lanes(p, this->parameters + i);
            });
        });
    }
};

// The directions, and the squares of parameters and directions.
template <class Rule, int Slots, class T>
struct direct_body : piecewise<Rule, Slots, T> {
    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        this->for_each(block, [&](unsigned number, parameter_piece const& piece) {
            auto const rule = this->rule_of(piece);
            double of_parameters = 0, of_directions = 0;
            this->for_each_lanes(block, piece, [&](std::ptrdiff_t i) {
                T p[lanes_of<T>], g[lanes_of<T>], direction[lanes_of<T>];
                load_lanes(this->parameters + i, p);
                this->load_gradients(i, piece, p, g);
                this->change(
                    i, p,
                    [&](T const& x, int k, auto&... slot) {
                        direction[k] = rule.direction(x, g[k], slot...);
                        of_parameters += double(x) * double(x);
                        of_directions += double(direction[k]) * double(direction[k]);
                    },
                    this->each_slot);
                store_lanes(direction, this->directions + i);
            });
            this->leave_sum(block, of_parameters, this->squares + this->count + number);
            this->leave_sum(block, of_directions, this->squares + 2 * this->count + number);
        });
    }
};

// The move in these directions.
template <class Rule, int Slots, class T>
struct move_body : piecewise<Rule, Slots, T> {
    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        this->for_each(block, [&](unsigned, parameter_piece const& piece) {
            auto rule = this->rule_of(piece);
            if constexpr (requires { rule.set_norms(1.0, 1.0); }) {
                rule.set_norms(this->norm(this->squares + this->count, piece),
                               this->norm(this->squares + 2 * this->count, piece));
            }
            this->for_each_lanes(block, piece, [&](std::ptrdiff_t i) {
                T p[lanes_of<T>], direction[lanes_of<T>];
                load_lanes(this->parameters + i, p);
                load_lanes(this->directions + i, direction);
                this->change(
                    i, p, [&](T& x, int k, auto&... slot) { rule.move(x, direction[k], slot...); },
                    this->each_slot);
                store_lanes(p, this->parameters + i);
            });
        });
    }
};

// Numbers of memory for the squares of a plan's pieces.
template <class T, class Plan>
constexpr std::ptrdiff_t piece_squares(Plan const& plan) {
    return 3 * count_pieces<T>(plan);
}

// The kernels of the update, as a tuple; directions lie in the workspace.
template <auto const& Plan, int Slots, class Rule, class Context>
auto piecewise_calls(Context const& c,
                     update_values<Rule, typename Context::value_type> const* values,
                     parameter_piece const* pieces, double* squares) {
    using T = typename Context::value_type;
    using one_rule = std::remove_cvref_t<decltype(rule_of_group(values->rule, 0))>;
    constexpr auto count = static_cast<unsigned>(count_pieces<T>(Plan));
    T* const gradients = c.region[int(region::gradients)];
    piecewise<Rule, Slots, T> const all{values,         pieces,
                                        count,          c.region[int(region::parameters)],
                                        gradients,      gradients + Plan.trainable,
                                        Plan.trainable, c.region[int(region::workspace)],
                                        squares};
    grid const where{count > 0 ? count : 1, block_threads, piecewise<Rule, Slots, T>::shared_bytes};
    auto const call = [&]<class Body>(std::type_identity<Body>) {
        return kernel_call<Body>{where, {all}};
    };
    auto const measured = [&] {
        if constexpr (requires(one_rule rule) { rule.set_gradient_norm(1.0); }) {
            return std::tuple{call(std::type_identity<measure_body<Rule, Slots, T>>{})};
        } else {
            return std::tuple{};
        }
    };
    if constexpr (castnet::detail::has_direction<one_rule, T, Slots>) {
        return std::tuple_cat(measured(),
                              std::tuple{call(std::type_identity<direct_body<Rule, Slots, T>>{}),
                                         call(std::type_identity<move_body<Rule, Slots, T>>{})});
    } else {
        return std::tuple_cat(measured(),
                              std::tuple{call(std::type_identity<update_body<Rule, Slots, T>>{})});
    }
}

} // namespace castnet::cuda
