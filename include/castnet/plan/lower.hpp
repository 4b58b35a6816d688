// Lowering: one fused group as a straight-line program, and what it reads.
#pragma once

#include <castnet/plan/instruction.hpp>
#include <castnet/plan/join.hpp>
#include <castnet/plan/views.hpp>

namespace castnet::ir {

class lowering {
public:
    // `in_bf16`: per node whether its array is bfloat16; nullptr where none is.
    constexpr explicit lowering(graph_view const& g, group_view const& group,
                                char const* in_bf16 = nullptr)
        : nodes_{g.nodes}, group_{group}, in_bf16_{in_bf16},
          loads_{g.nodes, group.joins ? g.node_count : 0},
          registers_{list<int>::with_size(g.node_count)},
          owners_{list<int>::with_size(g.node_count)},
          phases_{list<int>::with_size(group.joins ? g.node_count : 0)}, results_{phases_},
          reg_{registers_.data()}, owner_{owners_.data()}, result_{results_.data()} {}

    // Results of run(); they live until the next call.
    list<instruction> code;
    list<int> arrays; // nodes
    list<double> scalars;
    list<int> joined; // nodes that are results, too, besides the group's end
    int factor = -1;  // which of the arrays is the weight of a product, or -1
    int pooling = -1; // the gradient of max pooling that is stored in place of that end, or -1

    // The group that ends with node `root`; `next` links its functions in ascending order, from
    // `first` (-1 for none: a reduction of arrays as they are).
    // `in_result`: a node whose value lies where the program's result does. `bf16_bias`: parameters
    // are read from their copy in bfloat16.
    constexpr void run(int root, int first, int const* next, int in_result = -1,
                       bool bf16_bias = false) {
        node const& end = nodes_[root];
        code.clear();
        arrays.clear();
        scalars.clear();
        joined.clear();
        factor = pooling = -1;
        root_ = root;
        in_result_ = in_result;
        bf16_bias_ = bf16_bias;
        space_ = end.kind == op::reduce ? nodes_[end.in[0]].size : end.size;
        if (group_.joins) {
            find_loads(root, first, next);
        }
        begin_phase();
        ends_.clear();
        if (find_phases(root, first, next)) {
            lower_by_rows(root, first, next);
            return;
        }
        ends_.push({}); // the group's own
        for (int m = first; m >= 0; m = next[m]) {
            if (nodes_[m].kind == op::map) {
                function(m);
            }
            if (nodes_[m].kind == op::max_pool_gradient) {
                pooling = m;
            } else if (group_.is_joined(m)) {
                joined.push(m);
                ends_.push(end_of(m));
            }
        }
        ends_[0] = end_of(root);
        if (pooling >= 0) {
            ends_[0].a = is_bf16(pooling) ? 1 : 0;
            ends_[0].e = 1;
            ends_[0].f = array(nodes_[pooling].in[0]);
        }
        code.append(ends_.data(), ends_.size());
    }

    // No array is broadcast along pixels or channels: the loop may run over both at once.
    constexpr bool varies_as_a_whole() const {
        for (instruction const& i : code) {
            if (!i.ignores_axes()) {
                return false;
            }
        }
        return true;
    }

private:
    constexpr void begin_phase() {
        mark_ += 1;
        begin_ = code.size();
    }

    // Whether results of rows are read within the group, which is a program by rows then; and the
    // phase of each node. Ends stay in their order.
    constexpr bool find_phases(int root, int first, int const* next) {
        if (!group_.joins || !nodes_[root].size.sample) {
            return false;
        }
        int* const phase = phases_.data();
        phase[root] = 0;
        int latest = 0;
        for (int m = first; m >= 0; m = next[m]) {
            phase[m] = phase_of(m);
            if (group_.is_joined(m) && m > root) {
                latest = phase[m] > latest ? phase[m] : latest;
                phase[m] = latest;
            }
        }
        return latest > 0;
    }
    // That of the last result that it depends on, and one more.
    constexpr int phase_of(int id) const {
        int latest = 0;
        for (int k = 0; k < nodes_[id].operands; ++k) {
            int const from = nodes_[id].in[k];
            if (from < 0 || group_[from] < 0) {
                continue;
            }
            bool const mine = group_[from] == root_;
            int phase = mine ? phases_[from] : 0;
            if (mine && nodes_[from].kind == op::reduce) {
                ++phase;
            } else if (group_.has(group_[from], group_end::computed_again)) {
                phase = phase_of(from);
            }
            latest = phase > latest ? phase : latest;
        }
        return latest;
    }

    // Phase after phase, each with what its ends need.
    constexpr void lower_by_rows(int root, int first, int const* next) {
        by_rows_ = true;
        add_end(root);
        int phase = 0;
        for (int m = first; m >= 0; m = next[m]) {
            if (group_.is_joined(m)) {
                if (phases_[m] > phase) {
                    phase = phases_[m];
                    code.append(ends_.data(), ends_.size());
                    ends_.clear();
                    begin_phase();
                }
                joined.push(m);
                add_end(m);
            }
        }
        code.append(ends_.data(), ends_.size());
        by_rows_ = false;
    }
    constexpr void add_end(int id) {
        node const& n = nodes_[id];
        if (n.kind == op::map) {
            source(id);
        }
        instruction end = end_of(id);
        if (n.kind == op::reduce) {
            end.f = static_cast<std::uint8_t>(scalar(n.scalar) + 1);
            if (n.size.sample) {
                result_[id] = scalar(0);
                end.e = static_cast<std::uint8_t>(result_[id] + 1);
            }
        }
        ends_.push(end);
    }

    // Last instruction of a node: the store or reduction of its value.
    constexpr instruction end_of(int id) {
        node const& n = nodes_[id];
        instruction end;
        end.code = opcode::store;
        if (n.kind == op::feedback) {
            bool const all_steps = nodes_[n.in[0]].stored == storage::array;
            end.a = is_bf16(n.in[0]) ? 1 : 0;
            end.c = !all_steps ? 1 : n.attribute < 0 ? 4 : 3;
            end.d = static_cast<std::uint8_t>(reg_[n.in[1]]);
            return end;
        }
        end.a = is_bf16(id) ? 1 : 0;
        end.c = n.stored == storage::one_step ? 1 : n.stored == storage::over_slice ? 2 : 0;
        if (n.kind != op::reduce) {
            end.b = by_rows_ && n.size.channels < space_.channels ? 1 : 0;
            end.d = static_cast<std::uint8_t>(reg_[id]);
            return end;
        }
        int x = source(n.in[0]);
        if (n.operands == 2) {
            instruction product;
            product.code = opcode::apply;
            product.function = fn::multiply;
            product.a = static_cast<std::uint8_t>(x);
            product.b = static_cast<std::uint8_t>(source(n.in[1]));
            code.push(product);
            x = code.size() - 1 - begin_;
        }
        // pixels that are 1 anyway count as kept with the samples
        bool const pixels = n.size.pixels == space_.pixels && (space_.pixels > 1 || n.size.sample);
        bool const channels = n.size.channels == space_.channels && space_.channels > 1;
        end.code = opcode::reduce;
        end.a = static_cast<std::uint8_t>(n.reduce);
        bool const samples = n.size.sample || (pixels && !space_.sample); // where there is one
        end.b =
            static_cast<std::uint8_t>((samples ? 1 : 0) | (pixels ? 2 : 0) | (channels ? 4 : 0));
        end.d = static_cast<std::uint8_t>(x);
        return end;
    }

    // The arrays that the group reads element by element.
    constexpr void find_loads(int root, int first, int const* next) {
        loads_.begin(root, space_);
        for (int m = first; m >= 0; m = next[m]) {
            add_loads(m);
        }
        add_loads(root);
    }
    constexpr void add_loads(int id) {
        for (int k = 0; k < nodes_[id].operands && nodes_[id].kind != op::feedback; ++k) {
            loads_.add(nodes_[id].in[k]);
        }
    }

    // Whether a value of another group is computed here, and not loaded.
    constexpr bool is_computed_again(int id) const {
        if (!group_.joins || nodes_[id].kind != op::map) {
            return false;
        }
        bool const is_stored = (group_[id] == id || group_.is_joined(id)) &&
                               !group_.has(id, group_end::computed_again) && group_[id] != root_;
        bool const has_room = arrays.size() + 8 < max_arrays && code.size() < 64;
        return !is_stored || (has_room && loads_.is_large(id) && loads_.give(id));
    }

    constexpr int define(int id, instruction const& x) {
        owner_[id] = mark_;
        code.push(x);
        return reg_[id] = code.size() - 1 - begin_;
    }

    constexpr std::uint8_t array(int id) {
        for (int k = 0; by_rows_ && k < arrays.size(); ++k) { // read by an earlier phase
            if (arrays[k] == id) {
                return static_cast<std::uint8_t>(k);
            }
        }
        arrays.push(id);
        return static_cast<std::uint8_t>(arrays.size() - 1);
    }
    constexpr std::uint8_t scalar(double value) {
        scalars.push(value);
        return static_cast<std::uint8_t>(scalars.size() - 1);
    }

    // Along which axes an array varies; 7 is a whole array, read in the order of the loop.
    constexpr std::uint8_t variation(int id) const {
        int const in_memory = id == in_result_ ? root_ : base_of(id, nodes_);
        extents const size = size_in_memory(nodes_[id], nodes_[in_memory]);
        bool const view = is_part_of_row(nodes_[id]);
        if (size == space_ && !view) {
            return 7;
        }
        return static_cast<std::uint8_t>((size.sample ? 1 : 0) | (size.pixels > 1 ? 2 : 0) |
                                         (size.channels > 1 ? 4 : 0) | (view ? 8 : 0));
    }

    // The register of a node: of a function of this group, or of a value loaded or made for it.
    constexpr int source(int id) {
        if (owner_[id] == mark_) {
            return reg_[id];
        }
        if (by_rows_ && group_[id] == root_ && nodes_[id].kind == op::reduce) {
            return define(id, {opcode::constant, {}, -1, static_cast<std::uint8_t>(result_[id])});
        }
        if (is_computed_again(id)) {
            function(id);
            return reg_[id];
        }
        node const& n = nodes_[id];
        instruction x;
        switch (n.kind) {
        case op::constant:
            x.code = opcode::constant;
            x.a = scalar(n.scalar);
            break;
        case op::index:
            x.code = opcode::index;
            break;
        case op::sample_mask:
            x.code = opcode::sample_mask;
            x.a = array(id);
            x.b = scalar(n.scalar);
            break;
        case op::matmul_data:
            if (group_[id] != root_) {
                return load(id);
            }
            x.code = opcode::dot;
            x.a = array(n.in[0]);
            x.b = array(n.in[1]);
            x.c = static_cast<std::uint8_t>((is_bf16(n.in[0]) ? 1 : 0) | (in_bf16_ ? 2 : 0));
            factor = x.b;
            break;
        case op::bernoulli:
            x.code = opcode::bernoulli;
            x.a = scalar(n.scalar);
            x.b = scalar(n.attribute);
            break;
        case op::normal:
            x.code = opcode::normal;
            x.b = scalar(n.attribute);
            break;
        default:
            return load(id);
        }
        return define(id, x);
    }
    constexpr int load(int id) {
        instruction x;
        x.code = opcode::load;
        x.a = array(id);
        x.b = variation(id);
        x.c = is_bf16(id) || (bf16_bias_ && nodes_[id].kind == op::parameter) ? 1 : 0;
        return define(id, x);
    }
    constexpr bool is_bf16(int id) const { return in_bf16_ && in_bf16_[id] != 0; }

    constexpr void function(int id) {
        node const& n = nodes_[id];
        std::uint8_t r[max_operands]{};
        for (int k = 0; k < n.operands; ++k) {
            r[k] = static_cast<std::uint8_t>(n.in[k] < 0 ? no_register : source(n.in[k]));
        }
        define(id, {opcode::apply, n.function, static_cast<std::int8_t>(n.derivative), r[0], r[1],
                    r[2], r[3], r[4], r[5], r[6], r[7]});
    }

    node const* nodes_;
    group_view group_;
    char const* in_bf16_;
    loaded_arrays loads_;
    list<instruction> ends_;
    bool bf16_bias_ = false;
    list<int> registers_;
    list<int> owners_;
    list<int> phases_, results_;
    int* reg_;    // per node: its register in the group that owns it last
    int* owner_;  // per node: the mark of the phase that uses it last
    int* result_; // per node that programs by rows reduce: the scalar that holds its value
    int root_ = -1, in_result_ = -1;
    int mark_ = 0;  // of the phase, different from those of all others
    int begin_ = 0; // of its code
    bool by_rows_ = false;
    extents space_;
};

} // namespace castnet::ir
