// A plan executed with labels instead of numbers: whatever a launch reads must be there, written by
// the operation that the graph names and not overwritten since.
#pragma once

#include "networks.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace planned {

using cn::op, cn::ir::region;

struct range {
    region where;
    std::ptrdiff_t begin, end;

    bool overlaps(range const& other) const {
        return where == other.where && begin < other.end && other.begin < end;
    }
    friend bool operator==(range const&, range const&) = default;
};

struct value {
    int label;             // the node whose value it is
    std::ptrdiff_t sample; // -1 where all samples share it
    friend bool operator==(value const&, value const&) = default;
};

// Some samples, which a chunk takes through a launch.
struct piece {
    std::ptrdiff_t chunk, first, count;
};

// Runs the stages as one thread may: chunk after chunk, so that what one chunk writes too early is
// met by the others.
class labelled_run {
public:
    labelled_run(cn::ir::graph_view const& g, cn::ir::group_view const& group, int batch,
                 plan_view const& d)
        : labelled_run{g, group, batch, d, in_order(d)} {}
    // The stages in another order.
    labelled_run(cn::ir::graph_view const& g, cn::ir::group_view const& group, int batch,
                 plan_view const& d, std::vector<int> const& order)
        : g_{g}, d_{d}, batch_{batch}, group_{group} {
        fill();
        bool const copies = copies_for_products(d.launches[0]);
        if (copies) {
            node_of_.push_back(all_copied);
        }
        for (int id = 0; id < g_.node_count; ++id) {
            if (is_launched(id)) {
                bool const copied = copies && cn::ir::is_copied_input(at(id), g_.nodes);
                (copied ? copied_inputs_ : node_of_).push_back(id);
            }
        }
        REQUIRE(int(node_of_.size()) == d_.sizes.launches);
        int next = 0;
        for (int i = 0; i < d_.sizes.stages; ++i) {
            REQUIRE(d_.stages[i].first == next);
            next = d_.stages[i].last;
        }
        REQUIRE(next == d_.sizes.launches);
        REQUIRE(int(order.size()) == d_.sizes.stages);
        for (int i : order) {
            stage_ = i;
            if (d_.launches[d_.stages[i].first].once) {
                execute(d_.stages[i]);
            } else {
                keep_weights(d_.stages[i]);
            }
        }
        bool const keeps = d.elements(region::prepared) > 0;
        for (int runs = 0; runs < (keeps ? 2 : 1); ++runs) {
            for (int i : order) {
                stage_ = i;
                if (!d_.launches[d_.stages[i].first].once) {
                    execute(d_.stages[i]);
                }
            }
        }
        piece const all{0, 0, batch};
        for (int i = 0; i < g.output_count; ++i) {
            check(d.outputs[i], source(g.outputs[i]), all);
        }
        for (int i = 0; i < g.parameter_count; ++i) {
            if (g.gradients[i] >= 0) {
                check(of_parameter(i, region::gradients), g.gradients[i], all);
            }
        }
        for (int i = 0; i < g.update_count; ++i) {
            cn::ir::graph::update const& u = g.updates[i];
            check(of_parameter(u.parameter, region::parameters), u.value, all);
        }
    }

    // Elements of the workspace: all that is ever written, and the most that stages need at once.
    std::ptrdiff_t written() const {
        std::ptrdiff_t sum = 0;
        for (block const& b : blocks_) {
            sum += b.where.end - b.where.begin;
        }
        return sum;
    }
    std::ptrdiff_t most_alive() const {
        std::ptrdiff_t most = 0;
        for (int i = 0; i < d_.sizes.stages; ++i) {
            std::set<std::pair<std::ptrdiff_t, std::ptrdiff_t>> alive;
            for (block const& b : blocks_) {
                if (b.first <= i && i <= b.last) {
                    alive.insert({b.where.begin, b.where.end});
                }
            }
            std::ptrdiff_t sum = 0, end = 0;
            for (auto const& [from, to] : alive) {
                sum += std::max(to, end) - std::max(from, end);
                end = std::max(to, end);
            }
            most = std::max(most, sum);
        }
        return most;
    }

private:
    static std::vector<int> in_order(plan_view const& d) {
        std::vector<int> all(std::size_t(d.sizes.stages));
        std::iota(all.begin(), all.end(), 0);
        return all;
    }

    cn::ir::node const& at(int id) const { return g_.nodes[id]; }

    // Reshaping moves elements where the channels of an image lie innermost.
    bool keeps_order(int id) const { return at(id).size.in_logical_order(); }
    bool is_launched(int id) const {
        bool const view =
            at(id).kind == op::reshape && (at(id).attribute == cn::ir::as_stored ||
                                           (keeps_order(id) && keeps_order(at(id).in[0])));
        return group_.is_launched(id) && !cn::ir::traits_of(at(id)).source && !view &&
               !cn::ir::traits_of(at(id)).beside;
    }
    // The node that wrote what is known as `id`.
    int source(int id) const {
        while (at(id).kind == op::reshape && !is_launched(id)) {
            id = at(id).in[0];
        }
        op const kind = at(id).kind;
        return kind == op::sample_mask ? sample_mask : kind == op::sample_count ? sample_count : id;
    }

    // The first launch of plans in which products read bfloat16, of all parameters and of inputs.
    bool copies_for_products(cn::ir::kernel_launch const& s) const {
        return s.kind == op::convert && d_.arrays[s.output].is_bf16;
    }
    bool copies_parameters(cn::ir::kernel_launch const& s) const {
        return d_.arrays[s.first_array].size.count() == d_.elements(region::parameters);
    }

    // Elements of memory of a whole array that is not in chunks: two of bfloat16 are one.
    std::ptrdiff_t scratch_of(cn::ir::array_ref const& a) const {
        auto const count = a.size.count() * (a.size.sample ? batch_ : 1);
        return a.is_bf16 ? (count + 1) / 2 : count;
    }

    // Sample i of these; of bfloat16 all samples are one piece.
    range of(cn::ir::array_ref const& a, piece const& p, std::ptrdiff_t i) const {
        if (a.is_bf16) {
            return {a.where, a.offset, a.offset + scratch_of(a)};
        }
        auto const begin = a.offset + (a.chunk_stride > 0 ? p.chunk * a.chunk_stride
                                       : a.size.sample    ? p.first * a.size.count()
                                                          : 0);
        auto const from = begin + (a.size.sample ? i * a.size.count() : 0);
        return {a.where, from, from + a.size.count()};
    }
    static std::ptrdiff_t parts(cn::ir::array_ref const& a, piece const& p) {
        return a.size.sample && !a.is_bf16 ? p.count : 1;
    }
    static std::ptrdiff_t sample_of(cn::ir::array_ref const& a, piece const& p, std::ptrdiff_t i) {
        return a.size.sample && !a.is_bf16 ? p.first + i : -1;
    }
    cn::ir::array_ref of_parameter(int i, region where) const {
        return {where, d_.parameters[i].offset, {false, 1, d_.parameters[i].count()}};
    }

    value find(range const& wanted) const {
        for (auto const& [where, what] : live_) {
            if (where == wanted) {
                return what;
            }
        }
        return {-1, -1};
    }
    void check(cn::ir::array_ref const& a, int label, piece const& p) {
        for (std::ptrdiff_t i = 0; i < parts(a, p); ++i) {
            CHECK(find(of(a, p, i)) == value{label, sample_of(a, p, i)});
        }
    }
    void write(range r, value v) {
        std::erase_if(live_, [&](auto const& other) { return other.first.overlaps(r); });
        live_.push_back({r, v});
        REQUIRE(r.begin >= 0);
        REQUIRE(r.end <= d_.size[int(r.where)]);
    }
    void write(cn::ir::array_ref const& a, int label, piece const& p) {
        write(a, label, p, std::min(batch_, device::chunks));
    }
    void write(cn::ir::array_ref const& a, int label, piece const& p, std::ptrdiff_t chunks) {
        for (std::ptrdiff_t i = 0; i < parts(a, p); ++i) {
            write(of(a, p, i), {label, sample_of(a, p, i)});
        }
        use(a, chunks);
    }

    // Notes that the memory of a whole array is in use now: that of the batch or of all chunks.
    void use(cn::ir::array_ref const& a, std::ptrdiff_t chunks) {
        if (a.where != region::workspace) {
            return;
        }
        std::ptrdiff_t const at_once = d_.stages[stage_].samples_at_once;
        std::ptrdiff_t const copies = a.chunk_stride > 0 ? chunks : 1;
        for (std::ptrdiff_t chunk = 0; chunk < copies; ++chunk) {
            auto const begin = a.offset + chunk * a.chunk_stride;
            auto const elements =
                a.chunk_stride > 0 && a.size.sample ? at_once * a.size.count() : scratch_of(a);
            range const r{a.where, begin, begin + cn::ir::aligned(elements)};
            auto const known = std::find_if(blocks_.begin(), blocks_.end(), [&](block const& b) {
                return b.where == r && b.last == stage_;
            });
            if (known == blocks_.end()) {
                blocks_.push_back({r, stage_, stage_});
            }
        }
    }
    // The array was written in an earlier stage and has been in use since.
    void use_again(cn::ir::array_ref const& a) {
        for (block& b : blocks_) {
            if (a.where == region::workspace && a.chunk_stride == 0 && b.where.begin == a.offset &&
                b.where.end == a.offset + cn::ir::aligned(scratch_of(a)) &&
                (&b == &blocks_.back() || newest(b))) {
                b.last = std::max(b.last, stage_);
            }
        }
    }
    struct block {
        range where;
        int first, last; // stages
    };
    bool newest(block const& b) const {
        return std::none_of(blocks_.begin(), blocks_.end(), [&](block const& other) {
            return other.where == b.where && other.first > b.first;
        });
    }

    void fill() {
        piece const all{0, 0, batch_};
        for (int i = 0; i < d_.sizes.parameters; ++i) {
            write(of_parameter(i, region::parameters), g_.parameters[i].node, all);
        }
        int inputs = 0, targets = 0;
        for (int id = 0; id < g_.node_count; ++id) {
            auto const put = [&](std::ptrdiff_t offset, bool sample, int label) {
                write({region::batch, offset, {sample, 1, 1}}, label, all);
            };
            switch (at(id).kind) {
            case op::input:
                write(d_.inputs[inputs++], id, all);
                break;
            case op::target:
                write(d_.targets[targets++], id, all);
                break;
            case op::sample_weight:
                put(d_.weights, true, id);
                break;
            case op::sample_mask:
                put(d_.sample_mask, true, sample_mask);
                break;
            case op::sample_count:
                put(d_.present, false, sample_count);
                break;
            default:
                break;
            }
        }
    }

    // What the group that ends at `id` reads from memory. Where launches are joined, it may compute
    // the values of other groups instead of reading them, of what is among those `found`.
    std::set<int> reads_of(int id, std::set<int> const& found) const {
        std::set<int> all;
        for (int m = 0; m < g_.node_count; ++m) {
            if (group_[m] != id) {
                continue;
            }
            for (int k = 0; k < at(m).operands; ++k) {
                int const from = at(m).in[k];
                if (from < 0 || (group_[from] == id && (from != id || m > id))) {
                    continue; // not read, or computed on the way
                }
                add_reads(id, from, found, all);
            }
        }
        return all;
    }
    void add_reads(int id, int from, std::set<int> const& found, std::set<int>& all) const {
        op const kind = at(from).kind;
        bool const again =
            group_.end != nullptr && kind == op::map && found.count(source(from)) == 0;
        for (int k = 0; again && k < at(from).operands; ++k) {
            int const operand = at(from).in[k];
            if (operand >= 0 && group_[operand] != id) { // else it is known there
                add_reads(id, operand, found, all);
            }
        }
        if (!again && kind != op::constant && kind != op::index && !cn::ir::is_drawn(kind)) {
            all.insert(source(from));
        }
    }

    void execute(cn::ir::stage const& s) {
        REQUIRE(s.last > s.first);
        piece const all{0, 0, batch_};
        if (s.samples_at_once == 0) {
            REQUIRE(s.last == s.first + 1);
            prepare(s.first);
            run(s.first, all);
            return;
        }
        std::ptrdiff_t const chunks = std::min(batch_, device::chunks);
        for (int i = s.first; i < s.last; ++i) {
            prepare(i);
        }
        for (std::ptrdiff_t chunk = 0; chunk < chunks; ++chunk) {
            for (int i = s.first; i < s.last; ++i) {
                if (d_.launches[i].sums >= 0) {
                    write(d_.arrays[d_.launches[i].sums], sum_of(i), {chunk, 0, 0});
                }
            }
            auto const end = batch_ * (chunk + 1) / chunks;
            for (auto first = batch_ * chunk / chunks; first < end; first += s.samples_at_once) {
                auto const count = std::min<std::ptrdiff_t>(s.samples_at_once, end - first);
                for (int i = s.first; i < s.last; ++i) {
                    run(i, {chunk, first, count});
                }
            }
        }
        for (int i = s.first; i < s.last; ++i) { // the sums of the chunks are added
            if (cn::ir::kernel_launch const& step = d_.launches[i]; step.sums >= 0) {
                for (std::ptrdiff_t chunk = 0; chunk < chunks; ++chunk) {
                    check(d_.arrays[step.sums], sum_of(i), {chunk, 0, 0});
                }
                write(d_.arrays[step.output], node_of_[std::size_t(i)], all);
            }
        }
    }

    bool keeps_weight(cn::ir::kernel_launch const& s) const {
        return s.prepared >= 0 && d_.arrays[s.prepared].where == region::prepared;
    }
    void keep_weights(cn::ir::stage const& s) {
        for (int i = s.first; i < s.last; ++i) {
            if (keeps_weight(d_.launches[i])) {
                prepare_weight(i);
            }
        }
    }
    // The only one who reads the weight.
    void prepare_weight(int i) {
        cn::ir::kernel_launch const& s = d_.launches[i];
        cn::ir::array_ref const& weight = d_.arrays[s.first_array + 1];
        weight_of_[i] = find(of(weight, {}, 0)).label;
        check(weight, weight_of_[i], {});
        use_again(weight);
        write(d_.arrays[s.prepared], prepared_by(i), {0, 0, 0});
    }

    void prepare(int i) {
        cn::ir::kernel_launch const& s = d_.launches[i];
        if (s.scratch >= 0) {
            write(d_.arrays[s.scratch], scratch_of(i), {0, 0, 0});
        }
        if (s.prepared >= 0 && !keeps_weight(s)) {
            prepare_weight(i);
        }
    }

    void run(int i, piece const& p) {
        CAPTURE(i);
        cn::ir::kernel_launch const& s = d_.launches[i];
        int const id = node_of_[std::size_t(i)];
        if (id == all_copied) {
            copy_for_products(s);
            return;
        }
        REQUIRE(s.kind == kind_of(id, s.end.bias));
        if (s.scratch >= 0) {
            check(d_.arrays[s.scratch], scratch_of(i), p);
        }
        if (s.prepared >= 0) {
            check(d_.arrays[s.prepared], prepared_by(i), p);
        }
        if (s.chunk_scratch >= 0) {
            write(d_.arrays[s.chunk_scratch], scratch_of(i), p, device::chunks); // for each worker
        }
        cn::ir::array_ref const& output = d_.arrays[s.output];
        bool const sums = s.sums >= 0 && d_.stages[stage_].samples_at_once > 0;
        bool const element_wise =
            s.kind == op::map || (s.kind == op::reduce && at(id).kind == op::map);
        std::set<int> found;
        for (int k = s.first_array; k < s.first_array + s.arrays; ++k) {
            cn::ir::array_ref const& a = d_.arrays[k];
            if (s.end.bias && k == s.first_array + 2) { // where the epilogue finds the product
                CHECK(of(a, p, 0) == of(output, p, 0));
                continue;
            }
            if (s.prepared >= 0 && k == s.first_array + 1) {
                found.insert(weight_of_[i]);
                continue;
            }
            int const label = find(of(a, p, 0)).label;
            found.insert(label);
            check(a, label, p);
            use_again(is_copy(a) ? d_.arrays[d_.launches[0].output] : a);
            range const in = of(a, p, 0);
            for (int r = s.output; r < s.output + s.results; ++r) {
                range const out = of(d_.arrays[r], p, 0);
                CHECK((!out.overlaps(in) || (element_wise && in == out)));
            }
        }
        CHECK(found == reads_of(id, found));
        if (sums) {
            check(d_.arrays[s.sums], sum_of(i), {p.chunk, 0, 0});
            return;
        }
        if (s.sums >= 0) {
            write(d_.arrays[s.sums], sum_of(i), {0, 0, 0});
        }
        for (int k = 0; k < s.results; ++k) {
            write(d_.arrays[s.output + k], result_of(id, k), p);
        }
    }

    void copy_for_products(cn::ir::kernel_launch const& s) {
        int number = 0;
        if (copies_parameters(s)) {
            copy_parameters(d_.arrays[s.output]);
            ++number;
        }
        REQUIRE(s.results == number + int(copied_inputs_.size()));
        for (int const id : copied_inputs_) {
            check(d_.arrays[s.first_array + number], source(at(id).in[0]), {0, 0, batch_});
            write(d_.arrays[s.output + number], id, {0, 0, batch_});
            ++number;
        }
    }
    void copy_parameters(cn::ir::array_ref const& all) {
        use(all, 1);
        for (int i = 0; i < d_.sizes.parameters; ++i) {
            cn::ir::array_ref a = of_parameter(i, region::parameters);
            a = {all.where, all.offset + a.offset / 2, a.size, 0, 0, true};
            write(of(a, {}, 0), {g_.parameters[i].node, -1});
        }
    }
    bool is_copy(cn::ir::array_ref const& a) const {
        cn::ir::array_ref const& all = d_.arrays[d_.launches[0].output];
        return node_of_[0] == all_copied && a.where == all.where && a.is_bf16 && !a.size.sample &&
               a.offset >= all.offset && a.offset < all.offset + scratch_of(all);
    }

    op kind_of(int id, bool finished) const {
        for (int m = id + 1; m < g_.node_count; ++m) {
            if (group_[m] == id && at(m).kind != op::max_pool_gradient) { // sums of what is stored
                return op::reduce;
            }
        }
        for (int m = 0; finished && m < id; ++m) {
            if (group_[m] == id && at(m).kind != op::map) {
                return at(m).kind;
            }
        }
        return at(id).kind;
    }

    // The node of a launch's result with this number: its own, those that are computed beside it,
    // as the argmax of a pooling, or the sums that joined the gradient of a weight.
    int result_of(int id, int number) const {
        for (int other = id + 1; number == 0 && other < g_.node_count; ++other) {
            if (group_[other] == id && at(other).kind == op::max_pool_gradient) {
                return other; // stored in its place
            }
        }
        for (int other = 0; number > 0 && other < g_.node_count; ++other) {
            bool const beside = cn::ir::traits_of(at(other)).beside && at(other).in[0] == id;
            bool const sums = at(other).kind == op::reduce && at(id).kind == op::matmul_weight;
            bool const joined = other != id && group_[other] == id &&
                                (sums || group_.is_joined(other)) &&
                                at(other).kind != op::max_pool_gradient;
            if ((beside || joined) && --number == 0) {
                return other;
            }
        }
        return id;
    }

    // All nodes of these kinds are one array.
    static constexpr int sample_mask = 1 << 30, sample_count = sample_mask + 1;
    static constexpr int all_copied = sample_count + 1; // parameters and inputs, in bfloat16
    // What launches keep for themselves.
    static constexpr int scratch_of(int step) { return -2 - 3 * step; }
    static constexpr int sum_of(int step) { return -3 - 3 * step; }
    static constexpr int prepared_by(int step) { return -4 - 3 * step; }

    cn::ir::graph_view g_;
    plan_view d_;
    int batch_;
    cn::ir::group_view group_;
    std::vector<int> node_of_; // per launch
    std::vector<int> copied_inputs_;
    std::map<int, int> weight_of_; // per launch: whose value was prepared
    std::vector<std::pair<range, value>> live_;
    std::vector<block> blocks_;
    int stage_ = 0;
};

} // namespace planned
