// Buffers with fixed locations: parameters, the batch, gradients, running statistics.
#pragma once

#include <castnet/plan/buffer_assignment.hpp>

#include <utility>

namespace castnet::ir {

// Whether a node's value is of the batch, or of how many samples it has.
constexpr bool is_in_batch(op kind) {
    return kind < op::parameter || kind == op::sample_mask;
}

template <class Plan>
class fixed_buffers {
public:
    constexpr fixed_buffers(Plan& p, graph_view const& g, buffer_assignment& buffers,
                            std::ptrdiff_t alignment)
        : p_{p}, g_{g}, nodes_{g.nodes}, buffers_{buffers}, alignment_{alignment} {}

    constexpr void run() {
        place_parameters();
        place_batch();
        place_results();
    }

private:
    // Those of a repeated block lie as if nothing was repeated: from each to that of the next
    // repetition it is equally far.
    constexpr void place_parameters() {
        first_ = list<int>::filled(g_.parameter_count, -1);
        stride_ = list<std::ptrdiff_t>::with_size(g_.parameter_count);
        std::ptrdiff_t end = 0;
        for (int trainable = 1; trainable >= 0; --trainable) {
            for (int d = 0; d < Plan::sizes.devices; ++d) {
                device_memory& here = p_.devices[d];
                element_range& range = trainable ? here.trained : here.others;
                range.offset = end;
                int number = 0;
                for_each_parameter(g_, [&](int i, int repetition) {
                    parameter const& p = g_.parameters[i];
                    if (p.trainable == (trainable == 1) && nodes_[p.node].device == d) {
                        place_parameter(i, repetition, number, end, d);
                        end += aligned(p.count());
                    }
                    ++number;
                });
                range.count = end - range.offset;
            }
            if (trainable) {
                p_.trainable = end;
            }
        }
        p_.elements(region::parameters) = end;
        p_.elements(region::gradients) = g_.differentiated ? p_.trainable : 0;
        for (int i = 0; i < g_.parameter_count; ++i) {
            buffers_.fix(g_.parameters[i].node, region::parameters, offset_of(i), stride_[i]);
        }
    }
    constexpr void place_parameter(int i, int repetition, int number, std::ptrdiff_t offset,
                                   int device) {
        parameter const& p = g_.parameters[i];
        placed_parameter& placed = p_.parameters[number];
        placed = {p, offset, device};
        if (repetition == 0) {
            first_[i] = number;
        } else {
            repeated_block const& block = g_.repeat_at(p.repeat);
            placed.name = p.name.moved(block.name_part, repetition * block.positions);
            stride_[i] = (offset - offset_of(i)) / repetition;
        }
    }
    // Of the first repetition's.
    constexpr std::ptrdiff_t offset_of(int parameter) const {
        return p_.parameters[first_[parameter]].offset;
    }

    constexpr void place_batch() {
        p_.weights = take(p_.batch);
        p_.sample_mask = take(p_.batch);
        p_.present = take(1);
        for (int i = 0; i < Plan::sizes.given; ++i) {
            p_.given[i] = take(1);
        }
        for (int i = 0; i < g_.node_count; ++i) {
            if (is_in_batch(nodes_[i].kind)) {
                place_in_batch(i);
            }
        }
        p_.staging = take(largest_image_);
    }
    constexpr void place_in_batch(int i) {
        switch (nodes_[i].kind) {
        case op::input:
            place_fed(i, p_.inputs[inputs_++]);
            break;
        case op::target:
            place_fed(i, p_.targets[targets_++]);
            break;
        case op::sample_weight:
            buffers_.fix(i, region::batch, p_.weights);
            break;
        case op::sample_mask:
            buffers_.fix(i, region::batch, p_.sample_mask);
            break;
        case op::sample_count:
            buffers_.fix(i, region::batch, p_.present);
            break;
        case op::scalar:
            buffers_.fix(i, region::batch, p_.given[nodes_[i].attribute]);
            break;
        default:
            break;
        }
    }
    // What each batch is copied to.
    constexpr void place_fed(int i, array_ref& to) {
        extents const e = nodes_[i].size;
        if (!e.in_logical_order() && e.count() > largest_image_) {
            largest_image_ = e.count();
        }
        buffers_.fix(i, region::batch, take(e.count() * p_.batch));
        to = {region::batch, buffers_[i].offset, e};
    }
    constexpr std::ptrdiff_t take(std::ptrdiff_t count) {
        std::ptrdiff_t& end = p_.elements(region::batch);
        return std::exchange(end, end + aligned(count));
    }

    // Gradients and running statistics have their places.
    constexpr void place_results() {
        for (int i = 0; i < g_.parameter_count; ++i) {
            if (g_.gradients[i] >= 0) {
                buffers_.fix(g_.gradients[i], region::gradients, offset_of(i), stride_[i]);
            }
        }
        for (int i = 0; i < g_.update_count; ++i) {
            graph::update const& u = g_.updates[i];
            buffers_.fix(u.value, region::parameters, offset_of(u.parameter), stride_[u.parameter]);
        }
    }

    constexpr std::ptrdiff_t aligned(std::ptrdiff_t count) const {
        return castnet::ir::aligned(count, alignment_);
    }

    Plan& p_;
    graph_view g_;
    node const* nodes_;
    buffer_assignment& buffers_;
    std::ptrdiff_t alignment_;
    list<int> first_;             // per parameter of the graph: its number in the plan
    list<std::ptrdiff_t> stride_; // and how far it is to the next repetition's
    int inputs_ = 0, targets_ = 0;
    std::ptrdiff_t largest_image_ = 0; // elements
};

} // namespace castnet::ir
