// Memory of the optimizer's update on one GPU: the tables that its kernels read, and the sums of
// norms, each allocated when it is first needed.
#pragma once

#include <castnet/device/cuda/enqueue.hpp>
#include <castnet/device/cuda/penalized_ranges.hpp>
#include <castnet/device/cuda/session.hpp>
#include <castnet/device/cuda/step_memory.hpp>
#include <castnet/optim/optimizer.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace castnet::cuda {

template <class T>
class update_memory {
public:
    explicit update_memory(session const& where) : session_{where} {}

    // Sets the groups of the plan's parameters (plan/penalties.hpp). Waits for the GPU. Returns
    // whether steps must be captured anew: their products are for other weights.
    template <auto const& Plan>
    [[nodiscard]] bool set_groups(std::span<update_group const> groups) {
        groups_.assign(groups.begin(), groups.end());
        penalties<Plan>();
        write_penalties<Plan>();
        if (pieces_.bytes() > 0) {
            write_pieces<Plan>();
        }
        return !std::exchange(orthogonal_, {}).empty();
    }

    // Tables that the update by a rule reads.
    template <auto const& Plan, class Rule>
    update_tables tables([[maybe_unused]] Rule const& rule) {
        update_tables t{penalties<Plan>(), NeedsNorm<Rule> ? norm_sums() : nullptr};
        if constexpr (ByParameter<Rule>) {
            t.pieces = pieces<Plan>();
            t.squares_of_pieces =
                reinterpret_cast<double*>(pieces_.template as<char>() + squares_at<Plan>);
        }
        if constexpr (Orthogonalizes<Rule>) {
            if (orthogonal_.empty()) {
                orthogonal_ = orthogonalizations_of(Plan, rule, groups_);
            }
            t.orthogonal = orthogonal_;
        }
        return t;
    }

    // The penalties of the parameters.
    template <auto const& Plan>
    penalized_range const* penalties() {
        if (penalties_.bytes() == 0) { // with room for a range for each parameter
            std::size_t const most = std::size(Plan.parameters) + 1;
            penalties_ = session_.allocate(most * sizeof(penalized_range), "penalties");
            write_penalties<Plan>();
        }
        return penalties_.template as<penalized_range>();
    }

    // The sum of squares of the gradients and its parts; after them the scale of the gradients.
    double* norm_sums() {
        if (norm_sums_.bytes() == 0) {
            norm_sums_ = session_.allocate(norm_elements * sizeof(double) + sizeof(T),
                                           "the norm of the gradient");
        }
        return norm_sums_.template as<double>();
    }
    T* norm_scale() { return reinterpret_cast<T*>(norm_sums() + norm_elements); }

private:
    template <auto const& Plan>
    void write_penalties() const {
        write_ranges(penalized_ranges(Plan, groups_), penalties_, session_);
    }

    // The pieces of the parameters, for rules of whole ones; after them the squares of each.
    template <auto const& Plan>
    parameter_piece const* pieces() {
        if (count_pieces<T>(Plan) > 0 && pieces_.bytes() == 0) {
            pieces_ = session_.allocate(squares_at<Plan> +
                                            std::size_t(piece_squares<T>(Plan)) * sizeof(double),
                                        "the norms of parameters");
            write_pieces<Plan>();
        }
        return pieces_.template as<parameter_piece>();
    }
    template <auto const& Plan>
    static constexpr std::size_t squares_at =
        rounded_to_alignment(std::size_t(count_pieces<T>(Plan)) * sizeof(parameter_piece));
    template <auto const& Plan>
    void write_pieces() const {
        std::vector<parameter_piece> const all = pieces_of<T>(Plan, groups_);
        session_.write(pieces_.template as<parameter_piece>(), std::ptrdiff_t(all.size()),
                       [&](parameter_piece* to) { std::copy(all.begin(), all.end(), to); });
    }

    session const& session_;
    memory penalties_, pieces_, norm_sums_;
    std::vector<update_group> groups_;          // see set_groups(); none at first
    std::vector<orthogonalization> orthogonal_; // see update_tables; empty before the first step
};

} // namespace castnet::cuda
