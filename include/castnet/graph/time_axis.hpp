// Time axis of the values of a network: where it lies in memory, and what treats steps one by one.
#pragma once

#include <castnet/graph/operations.hpp>

namespace castnet::ir {

enum class time_place : char {
    none,      // the same value in all steps
    in_pixels, // (time, features), or some pixels for each step: (time, heads, features)
    in_row,    // the same as one vector; (time)
    last_step  // the value of the last step
};

// Of the nodes of a graph with sequences of `steps` steps, each found after its operands.
class time_axis {
public:
    constexpr time_axis(list<node> const& nodes, list<window> const& windows, int steps)
        : nodes_{nodes.data()}, windows_{windows}, steps_{steps},
          place_{list<time_place>::filled(nodes.size(), time_place::none)},
          is_row_{list<char>::with_size(nodes.size())} {
        find_rows(nodes.size());
    }

    constexpr time_place of(int i) const { return place_[i]; }

    // Of a node whose result has the time axis of its own shape: an input, a delay, an attention.
    constexpr void begin(int i) {
        place_[i] = steps_ == 1                       ? time_place::none
                    : is_row_[i] != 0                 ? time_place::in_row
                    : nodes_[i].size.pixels == steps_ ? time_place::in_pixels
                                                      : time_place::none;
    }

    // Of the result of an operation; false where its steps depend on others.
    constexpr bool find(int i) {
        node const& n = nodes_[i];
        bool pixels = n.kind == op::map && n.size.pixels == steps_ && steps_ > 1, row = false,
             last = false; // a function of values without time has it, too
        for (int k = 0; k < n.operands; ++k) {
            pixels = pixels && (n.in[k] < 0 || nodes_[n.in[k]].size.pixels == 1);
        }
        for (int k = 0; k < n.operands; ++k) {
            time_place const from = n.in[k] < 0 ? time_place::none : place_[n.in[k]];
            pixels = pixels || from == time_place::in_pixels;
            row = row || from == time_place::in_row;
            last = last || from == time_place::last_step;
        }
        if (!pixels && !row) {
            place_[i] = last ? time_place::last_step : time_place::none;
            return true;
        }
        if (pixels && row) {
            return false;
        }
        if (n.kind == op::reshape) { // from (time, features) to one row, or back
            place_[i] = n.size.pixels == 1 ? time_place::in_row : time_place::in_pixels;
            return nodes_[n.in[0]].size.in_logical_order() && n.size.in_logical_order() &&
                   (n.size.pixels == 1 || n.size.pixels % steps_ == 0);
        }
        if (row && n.kind == op::gather_rows) {
            place_[i] = time_place::in_pixels;
            return !last && n.size.pixels == steps_;
        }
        if (is_slice_of_row(i)) {
            int const features = nodes_[n.in[0]].size.channels / steps_;
            place_[i] = time_place::last_step;
            return n.size.channels == features && n.attribute == (steps_ - 1) * features;
        }
        place_[i] = row ? time_place::in_row : time_place::in_pixels;
        return !last && treats_steps_alike(n, place_[i]);
    }

    // Whether a node is a slice of a sequence in a row: only that of the last step can be taken.
    constexpr bool is_slice_of_row(int i) const {
        node const& n = nodes_[i];
        return n.kind == op::slice && place_[n.in[0]] == time_place::in_row;
    }

    // Whether operand k of a function of sequences is known before the first step and has something
    // else for each step.
    constexpr bool has_row(node const& n, int k) const {
        if (n.kind != op::map || n.in[k] < 0 || place_[n.in[k]] != time_place::none ||
            steps_ == 1) {
            return false;
        }
        node const& x = nodes_[n.in[k]];
        bool const stored = !traits_of(x).source || x.kind == op::parameter;
        return x.size.pixels == n.size.pixels && n.size.pixels % steps_ == 0 &&
               x.size.in_logical_order() && (stored || x.kind == op::index);
    }

private:
    // Vectors that are sequences of numbers: a loop or a table reads their elements step by step.
    constexpr void find_rows(int count) {
        for (int i = count - 1; i >= 0 && steps_ > 1; --i) {
            node const& n = nodes_[i];
            bool const steps = n.size.pixels == steps_;
            if (n.kind == op::gather_rows && steps) {
                is_row_[n.in[1]] = nodes_[n.in[1]].size.channels == steps_ ? 1 : 0;
            } else if (n.kind == op::reshape && steps && n.size.channels == 1) {
                is_row_[n.in[0]] = is_time_row(n.in[0]) ? 1 : 0;
            } else if (n.kind == op::map && is_row_[i]) {
                for (int k = 0; k < n.operands; ++k) {
                    if (is_time_row(n.in[k])) {
                        is_row_[n.in[k]] = 1;
                    }
                }
            }
        }
    }
    constexpr bool is_time_row(int i) const {
        extents const e = nodes_[i].size;
        return e.sample && e.pixels == 1 && e.channels == steps_;
    }

    // Whether each result is made of pixels of one step, which lie one after the other.
    constexpr bool keeps_steps_apart(node const& n) const {
        if (n.kind == op::upsample) { // copies of each pixel, of a row of these
            window const& w = windows_[n.attribute];
            return w.images == 1 && w.out_height == 1 && !w.bilinear;
        }
        if (n.kind == op::transpose) { // of matrices, one after the other
            window const& w = windows_[n.attribute];
            return n.size.count() / w.channels / w.height / w.width % steps_ == 0;
        }
        if (n.kind == op::batch_matmul) { // of matrices, too
            product_form const f = product_form::unpacked(n.attribute);
            return f.batch % steps_ == 0 && !f.beside_a && !f.beside_b && !f.beside_c;
        }
        bool const by_rows = n.kind == op::reverse || n.kind == op::cumulative_sum;
        return by_rows || traits_of(n).by_pixels;
    }

    constexpr bool treats_steps_alike(node const& n, time_place time) const {
        bool const row = time == time_place::in_row;
        if (row ? n.kind != op::map || n.size.pixels > 1
                : !keeps_steps_apart(n) || n.size.pixels % steps_ != 0) {
            return false;
        }
        for (int k = 0; k < n.operands; ++k) {
            bool const weight = traits_of(n).product && n.kind != op::batch_matmul && k == 1;
            if (n.in[k] >= 0 && !weight && place_[n.in[k]] != time && (row || !has_row(n, k))) {
                extents const e = nodes_[n.in[k]].size; // the same in all steps
                if ((row ? e.channels : e.pixels) > 1) {
                    return false;
                }
            }
        }
        return true;
    }

    node const* nodes_;
    list<window> windows_;
    int steps_;
    list<time_place> place_; // per node
    list<char> is_row_;
};

} // namespace castnet::ir
