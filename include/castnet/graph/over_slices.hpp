// In-place storage of a loop's values over the slices that they are computed from: gates over the
// projections of the input, so that a training step keeps only one of the two.
//
// A loop's function of a slice that nobody reads afterwards may have its place, if only programs
// read either, which find some channels of a wider array. The slices of that array are apart from
// each other, and nobody reads all of it.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/graph/traced.hpp>

namespace castnet::ir {

// Sets node::stored of functions whose values all steps are kept of; after find_storage().
class slice_overwriting {
public:
    constexpr slice_overwriting(graph& g, results const& r)
        : nodes_{g.nodes.data()}, count_{g.nodes.size()},
          reader_{list<int>::filled(count_, nobody)}, readers_{list<char>::with_size(count_)} {
        for_each_result(g, r, [this](int id) { keep(id); });
    }

    constexpr void run() {
        find_readers();
        for (int const slice : slices_) {
            int const end = end_of(slice);
            if (end >= 0 && is_given_up(slice)) {
                nodes_[end].stored = storage::over_slice;
                nodes_[end].attribute = slice;
            }
        }
    }

private:
    static constexpr int nobody = -1, several = -2;
    static constexpr int programs = 1, slices = 2, others = 4;

    constexpr void keep(int id) {
        reader_[id] = several;
        readers_[id] = others;
    }

    constexpr void find_readers() {
        for (int i = count_ - 1; i >= 0; --i) {
            node const& n = nodes_[i];
            if (reader_[i] == nobody && !is_read_next(n.kind)) {
                continue;
            }
            bool const program = n.kind == op::map || n.kind == op::reduce;
            bool const slice = n.stored == storage::in_place;
            if (slice) {
                slices_.push(i);
            }
            int const mine = program ? programs : slice ? slices : others;
            for (int k = 0; k < n.operands; ++k) {
                if (int const x = n.in[k]; x >= 0) {
                    reader_[x] = reader_[x] == nobody || reader_[x] == i ? i : int{several};
                    readers_[x] = static_cast<char>(readers_[x] | mine);
                }
            }
        }
    }

    // The function that all steps are kept of and that a slice leads to, by others of which none
    // is; -1 if there is none.
    constexpr int end_of(int slice) const {
        int id = reader_[slice];
        while (id >= 0) {
            node const& n = nodes_[id];
            if (n.kind != op::map || n.loop < 0 || n.size.pixels == 1 ||
                n.size != nodes_[slice].size || n.attribute >= 0) {
                return -1;
            }
            if (n.stored == storage::array) {
                return readers_[id] == programs ? id : -1;
            }
            id = n.stored == storage::one_step ? reader_[id] : -1;
        }
        return -1;
    }

    // Whether nobody else reads these channels of what the slice is a part of, an array that is
    // there before the loop.
    constexpr bool is_given_up(int slice) const {
        node const& mine = nodes_[slice];
        for (int const other : slices_) {
            node const& n = nodes_[other];
            if (other != slice && n.in[0] == mine.in[0] &&
                n.attribute < mine.attribute + mine.size.channels &&
                mine.attribute < n.attribute + n.size.channels) {
                return false;
            }
        }
        int from = mine.in[0];
        if (readers_[from] != slices) {
            return false;
        }
        while (nodes_[from].kind == op::reshape && nodes_[from].attribute == as_stored) {
            int const view = from;
            from = nodes_[view].in[0];
            if (reader_[from] != view) {
                return false;
            }
        }
        node const& whole = nodes_[from];
        return whole.loop < 0 && whole.stored == storage::array && !traits_of(whole).source &&
               whole.kind != op::reshape && whole.kind != op::carry && whole.kind != op::repeated &&
               whole.kind != op::cache;
    }

    node* nodes_;
    int count_;
    list<int> reader_;   // per node: the only one that reads it, or several
    list<char> readers_; // per node: of which kinds they are
    list<int> slices_;   // that are read in place
};

constexpr void store_over_slices(graph& g, results const& r) {
    if (g.loops > 0) {
        slice_overwriting{g, r}.run();
    }
}

} // namespace castnet::ir
