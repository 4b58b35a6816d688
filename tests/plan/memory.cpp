// The memory of plans, checked by executing them with labels instead of numbers: whatever a step
// reads must be there, written by the operation that the graph names and not overwritten since.
#include <castnet/zoo/resnet.hpp>

#include "networks.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>
#include <vector>

namespace cn = castnet;
using namespace planned;
using cn::op, cn::region;

namespace {

struct range {
    region where;
    std::ptrdiff_t begin, end;
    int label; // the node whose value lies there

    bool overlaps(range const& other) const {
        return where == other.where && begin < other.end && other.begin < end;
    }
};

class labelled_run {
public:
    labelled_run(cn::graph_view const& g, int batch, plan_view const& d)
        : g_{g}, d_{d}, batch_{batch}, group_{cn::fuse(g)} {
        fill();
        execute();
        for (int i = 0; i < g.output_count; ++i) {
            CHECK(find(d.outputs[i]) == source(g.outputs[i]));
        }
        for (int i = 0; i < g.parameter_count; ++i) {
            if (g.gradients[i] >= 0) {
                CHECK(find(of_parameter(i, region::gradients)) == g.gradients[i]);
            }
        }
        for (int i = 0; i < g.update_count; ++i) {
            cn::graph::update const& u = g.updates[i];
            CHECK(find(of_parameter(u.parameter, region::parameters)) == u.value);
        }
    }

    // Elements of the workspace: all that is ever written, and the most that is needed at once.
    std::ptrdiff_t written() const { return written_; }
    std::ptrdiff_t most_alive() const { return most_alive_; }

private:
    cn::node const& at(int id) const { return g_.nodes[id]; }

    // Reshaping moves elements where the channels of an image lie innermost.
    bool keeps_order(int id) const {
        return at(id).rank != 3 || at(id).size.pixels == 1 || at(id).size.channels == 1;
    }
    bool is_step(int id) const {
        bool const view =
            at(id).kind == op::reshape && keeps_order(id) && keeps_order(at(id).in[0]);
        return group_[id] == id && !cn::is_source(at(id).kind) && !view;
    }
    // The node that wrote what is known as `id`.
    int source(int id) const {
        while (at(id).kind == op::reshape && !is_step(id)) {
            id = at(id).in[0];
        }
        op const kind = at(id).kind;
        return kind == op::presence ? presence : kind == op::present_count ? present_count : id;
    }

    range of(cn::array_ref const& a) const {
        auto const count = a.size.count() * (a.size.sample ? batch_ : 1);
        return {a.where, a.offset, a.offset + count, -1};
    }
    cn::array_ref of_parameter(int i, region where) const {
        return {where, d_.parameters[i].offset, {false, 1, d_.parameters[i].count()}};
    }

    // The label of exactly this range; -1 where it holds anything else.
    int find(cn::array_ref const& a) const {
        range const wanted = of(a);
        for (range const& r : live_) {
            if (r.where == wanted.where && r.begin == wanted.begin && r.end == wanted.end) {
                return r.label;
            }
        }
        return -1;
    }

    void write(range r) {
        std::erase_if(live_, [&](range const& other) { return other.overlaps(r); });
        live_.push_back(r);
        REQUIRE(r.begin >= 0);
        REQUIRE(r.end <= d_.size[int(r.where)]);
    }

    void fill() {
        for (int i = 0; i < d_.sizes.parameters; ++i) {
            range r = of(of_parameter(i, region::parameters));
            r.label = g_.parameters[i].node;
            write(r);
        }
        int inputs = 0, targets = 0;
        for (int id = 0; id < g_.node_count; ++id) {
            auto const put = [&](std::ptrdiff_t offset, int count, int label) {
                write({region::batch, offset, offset + count, label});
            };
            switch (at(id).kind) {
            case op::input:
            case op::target: {
                bool const input = at(id).kind == op::input;
                range r = of(input ? d_.inputs[inputs++] : d_.targets[targets++]);
                r.label = id;
                write(r);
                break;
            }
            case op::sample_weight:
                put(d_.weights, batch_, id);
                break;
            case op::presence:
                put(d_.presence, batch_, presence);
                break;
            case op::present_count:
                put(d_.present, 1, present_count);
                break;
            default:
                break;
            }
        }
    }

    // What the group that ends at `id` reads from memory.
    std::set<int> reads_of(int id) const {
        std::set<int> all;
        for (int m = 0; m <= id; ++m) {
            if (m != id && (group_[m] != id || at(m).kind != op::map)) {
                continue;
            }
            for (int k = 0; k < at(m).operands; ++k) {
                int const from = at(m).in[k];
                if (from < 0 || (group_[from] == id && at(from).kind == op::map)) {
                    continue; // not read, or computed on the way
                }
                op const kind = at(from).kind;
                if (kind != op::constant && kind != op::index && kind != op::bernoulli) {
                    all.insert(source(from));
                }
            }
        }
        return all;
    }

    void execute() {
        int next = 0;
        for (int id = 0; id < g_.node_count; ++id) {
            if (!is_step(id)) {
                continue;
            }
            REQUIRE(next < d_.sizes.steps);
            cn::step const& s = d_.steps[next++];
            REQUIRE(s.kind == at(id).kind);
            CAPTURE(next);
            std::set<int> found;
            range output = of(d_.arrays[s.output]);
            for (int i = 0; i < s.arrays; ++i) {
                cn::array_ref const& a = d_.arrays[s.first_array + i];
                found.insert(find(a));
                range const r = of(a);
                bool const same = r.begin == output.begin && r.end == output.end;
                CHECK((!output.overlaps(r) || (s.kind == op::map && same)));
            }
            CHECK(found == reads_of(id));
            std::ptrdiff_t needed = read_from(next - 1);
            if (s.scratch >= 0) {
                needed += check_scratch(s, output);
            }
            bool const in_place = output.where != region::workspace || overwrites(s, output);
            output.label = id;
            write(output);
            if (output.where == region::workspace) {
                written_ += cn::cpu::aligned(output.end - output.begin);
            }
            needed += in_place ? 0 : cn::cpu::aligned(output.end - output.begin);
            most_alive_ = std::max(most_alive_, needed);
        }
        CHECK(next == d_.sizes.steps);
    }

    bool overwrites(cn::step const& s, range const& output) const {
        bool any = false;
        for (int i = 0; i < s.arrays; ++i) {
            any = any || output.overlaps(of(d_.arrays[s.first_array + i]));
        }
        return any;
    }

    // Returns its size.
    std::ptrdiff_t check_scratch(cn::step const& s, range const& output) {
        cn::instruction end;
        if (s.program >= 0) {
            end = d_.instructions[d_.first_instruction[s.program + 1] - 1];
        }
        auto const extents_of = [&](int i) {
            return i < s.arrays ? d_.arrays[s.first_array + i].size : cn::extents{};
        };
        cn::extents const operands[] = {extents_of(0), extents_of(1)};
        auto const begin = d_.arrays[s.scratch].offset;
        range const scratch{region::workspace, begin,
                            begin + device::scratch(s, d_.windows, operands, end), -2};
        CHECK(!scratch.overlaps(output));
        for (int i = 0; i < s.arrays; ++i) {
            CHECK(!scratch.overlaps(of(d_.arrays[s.first_array + i])));
        }
        write(scratch);
        auto const size = cn::cpu::aligned(scratch.end - scratch.begin);
        written_ += size;
        return size;
    }

    // How much of the workspace this step or one behind it reads.
    std::ptrdiff_t read_from(int step) const {
        std::ptrdiff_t alive = 0;
        for (range const& r : live_) {
            bool read = false, over = r.where != region::workspace;
            for (int s = step; s < d_.sizes.steps && !read && !over; ++s) {
                for (int i = 0; i < d_.steps[s].arrays; ++i) {
                    auto const& a = d_.arrays[d_.steps[s].first_array + i];
                    read = read || (a.where == r.where && a.offset == r.begin);
                }
                over = of(d_.arrays[d_.steps[s].output]).overlaps(r);
            }
            alive += read ? cn::cpu::aligned(r.end - r.begin) : 0;
        }
        return alive;
    }

    // All nodes of these kinds are one array.
    static constexpr int presence = 1 << 30, present_count = presence + 1;

    cn::graph_view g_;
    plan_view d_;
    int batch_;
    cn::list<int> group_;
    std::vector<range> live_;
    std::ptrdiff_t written_ = 0, most_alive_ = 0;
};

template <class Network, bool Training, std::size_t Batch, class Loss>
void check_plan(char const* name) {
    CAPTURE(name);
    CAPTURE(Training);
    using recipe = cn::detail::step_recipe<Loss>;
    constexpr auto const& graph = graph_of<recipe, Network, Training>::value;
    plan_view const d = view_of<recipe, Network, Training, Batch>();
    labelled_run const run{graph.view(), int(Batch), d};
    auto const peak = d.elements(region::workspace);
    CHECK(peak < run.written()); // memory is used again
    CHECK(peak >= run.most_alive());
    CHECK(double(peak) <= 1.3 * double(run.most_alive())); // and with few gaps
}

template <class Network, std::size_t Batch = 4, class Loss = planned::mse>
void check_plans(char const* name) {
    check_plan<Network, true, Batch, Loss>(name);
    check_plan<Network, false, Batch, Loss>(name);
}

} // namespace

TEST_CASE("every step reads what the graph says") {
    check_plans<chain>("chain");
    check_plans<chain, 1>("chain");
    check_plans<residual>("residual");
    check_plans<reshaped>("reshaped");
    check_plans<two_inputs>("two inputs");
    check_plans<branches>("branches");
}

TEST_CASE("also in large networks") {
    check_plans<cn::zoo::resnet50, 2, cn::cross_entropy_loss<0.0F>>("ResNet-50");
}
