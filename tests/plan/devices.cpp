// Plans for several devices: copies, whose memory is whose, and who waits for whom.
#include <castnet/policy/model_parallel.hpp>

#include "labelled_run.hpp"

#include <array>

namespace cn = castnet;
using namespace planned;

namespace {

using cn::concat, cn::conv2d, cn::dense, cn::on, cn::relu;

// An encoder that two devices share, its results joined on a third.
struct siamese {
    static constexpr auto encode =
        cn::shared<"encoder", cn::block<conv2d<4, 3>, relu, cn::max_pool2d<2>, cn::flatten,
                                        dense<6>, cn::tanh>>;
    constexpr auto operator()(auto a, auto b) const {
        return concat(a | on<0, encode>, b | on<1, encode>) | on<2, dense<5>, relu, dense<3>>;
    }
};
// Values that go back and forth, are read on several devices, and come back late.
struct braid {
    constexpr auto operator()(auto x) const {
        constexpr auto layer = cn::block<conv2d<4, 3, cn::conv{.padding = 1}>, relu>;
        auto const a = x | on<1, layer>;
        auto const b = a | on<0, layer>;
        auto const c = a | on<2, layer>;
        auto const d = (b | on<1, layer>)+c;
        return concat(d | on<2, layer>, a, b) | cn::global_avg_pool2d | on<1, dense<3>>;
    }
};
// A pipeline: one part after the other.
using chained =
    cn::sequential<input<2, 9, 9>, on<0, conv2d<4, 3>, relu>, on<1, conv2d<6, 3>, cn::batch_norm>,
                   on<2, cn::max_pool2d<2>, cn::flatten, dense<10>>, on<0, relu, dense<3>>>;
using pair = cn::network<siamese{}, input<1, 8, 8>, input<1, 8, 8>>;
using braided = cn::network<braid{}, input<2, 6, 6>>;
using on_three = cn::cpu_devices<cn::cpu_device<float>, 3>;
using step = cn::detail::step_recipe<mse>;

template <class Network, bool Training = true>
plan_view view() {
    return view_of<step, Network, Training, 4, on_three>();
}

// The stages in the order in which they end where device order[0] is fast, order[1] slower, ….
std::vector<int> run_by(plan_view const& d, std::array<int, 3> const& order) {
    std::vector<int> ended;
    std::vector<bool> done(std::size_t(d.sizes.stages));
    std::array<int, 3> next{};
    auto const advance = [&](int device) {
        int& i = next[std::size_t(device)];
        while (i < d.sizes.stages && d.stages[i].device != device) {
            ++i;
        }
        if (i == d.sizes.stages ||
            (d.stages[i].after >= 0 && !done[std::size_t(d.stages[i].after)])) {
            return false;
        }
        done[std::size_t(i)] = true;
        ended.push_back(i++);
        return true;
    };
    while (advance(order[0]) || advance(order[1]) || advance(order[2])) {
    }
    return ended;
}

template <class Network, bool Training>
void check_orders(char const* name) {
    CAPTURE(name);
    CAPTURE(Training);
    constexpr auto const& graph = graph_of<step, Network, Training, 3>::value;
    cn::ir::fused_groups<on_three, graph_of<step, Network, Training, 3>::size().nodes> const groups{
        graph.view()};
    plan_view const d = view<Network, Training>();
    std::array<int, 3> order{0, 1, 2};
    do {
        CAPTURE(order[0]);
        CAPTURE(order[1]);
        labelled_run const run{graph.view(), groups.view(), 4, d, run_by(d, order)};
    } while (std::next_permutation(order.begin(), order.end()));
}

int copies_to(plan_view const& d, int device) {
    int count = 0;
    for (int i = 0; i < d.sizes.stages; ++i) {
        count += d.launches[d.stages[i].first].kind == op::copy && d.stages[i].device == device;
    }
    return count;
}

bool holds(cn::ir::element_range const& r, cn::ir::array_ref const& a) {
    return a.where == r.where && r.offset <= a.offset && a.offset < r.offset + r.count;
}
bool lies_on(plan_view const& d, cn::ir::array_ref const& a, int device) {
    cn::ir::device_memory const& here = d.devices[device];
    cn::ir::element_range gradients = here.trained;
    gradients.where = region::gradients;
    return a.where == region::batch || holds(here.trained, a) || holds(here.others, a) ||
           holds(gradients, a) || holds(here.workspace, a);
}

} // namespace

TEST_CASE("steps read what the graph says, whichever device is fast") {
    check_orders<pair, true>("pair");
    check_orders<pair, false>("pair");
    check_orders<braided, true>("braided");
    check_orders<braided, false>("braided");
    check_orders<chained, true>("chained");
}

TEST_CASE("what crosses devices is copied, once for each that reads it") {
    plan_view const prediction = view_of<cn::detail::prediction_recipe, pair, false, 4, on_three>();
    CHECK(copies_to(prediction, 0) == 1); // the second code, which concat joins on device 0
    CHECK(copies_to(prediction, 1) == 4); // the encoder's parameters
    CHECK(copies_to(prediction, 2) == 1);
    plan_view const training = view<pair>();
    CHECK(copies_to(training, 0) == 1 + 1 + 4); // the code, the gradient of both, of parameters
    CHECK(copies_to(training, 1) == 4 + 1);
    CHECK(copies_to(training, 2) == 1);
    plan_view const alone = view_of<step, pair, true, 4>(); // a policy with one device
    CHECK(copies_to(alone, 0) == 0);
    CHECK(alone.sizes.devices == 1);
    for (int i = 0; i < alone.sizes.stages; ++i) {
        CHECK(alone.stages[i].device == 0);
    }
}

TEST_CASE_TEMPLATE("devices compute in their own memory", Network, pair, braided, chained) {
    plan_view const d = view<Network>();
    std::ptrdiff_t trained = 0, others = d.trainable, workspace = 0;
    for (int i = 0; i < 3; ++i) { // parts that follow one another
        CHECK(d.devices[i].trained.offset ==
              std::exchange(trained, trained + d.devices[i].trained.count));
        CHECK(d.devices[i].others.offset ==
              std::exchange(others, others + d.devices[i].others.count));
        CHECK(d.devices[i].workspace.offset ==
              std::exchange(workspace, workspace + d.devices[i].workspace.count));
        CHECK(d.devices[i].workspace.count > 0);
    }
    CHECK(trained == d.trainable);
    CHECK(others == d.elements(region::parameters));
    CHECK(workspace == d.elements(region::workspace));
    for (int i = 0; i < d.sizes.parameters; ++i) {
        cn::ir::placed_parameter const& p = d.parameters[i];
        CHECK(lies_on(d, {region::parameters, p.offset}, p.device));
    }
    for (int g = 0; g < d.sizes.stages; ++g) {
        cn::ir::stage const& now = d.stages[g];
        for (int i = now.first; i < now.last; ++i) {
            cn::ir::kernel_launch const& s = d.launches[i];
            CAPTURE(i);
            CHECK(lies_on(d, d.arrays[s.output], now.device));
            for (int k = s.first_array; k < s.output; ++k) {
                CHECK(lies_on(d, d.arrays[k], now.device) == (s.kind != op::copy));
            }
        }
    }
}

TEST_CASE("a copy waits for the stage that makes what it copies, and nothing else waits") {
    plan_view const d = view<braided>();
    for (int g = 0; g < d.sizes.stages; ++g) {
        cn::ir::stage const& now = d.stages[g];
        cn::ir::kernel_launch const& copy = d.launches[now.first];
        if (now.after < 0) {
            CHECK(
                (copy.kind != op::copy || d.arrays[copy.first_array].where == region::parameters));
            continue;
        }
        REQUIRE(copy.kind == op::copy);
        CHECK(now.after < g);
        CHECK(d.stages[now.after].device != now.device);
        bool made = false;
        for (int i = d.stages[now.after].first; i < d.stages[now.after].last; ++i) {
            auto const& from = d.arrays[d.launches[i].output];
            auto const& read = d.arrays[copy.first_array];
            made = made || (from.where == read.where && from.offset == read.offset);
        }
        CHECK(made);
    }
}

TEST_CASE("parameters are where they are used first, losses where the first output is") {
    plan_view const d = view<pair>();
    for (int i = 0; i < d.sizes.parameters; ++i) {
        bool const shared = d.parameters[i].name.text().starts_with("encoder.");
        CHECK(d.parameters[i].device == (shared ? 0 : 2));
    }
    CHECK(lies_on(d, d.outputs[0], 2));
}

// Each branch waits for no other before both are joined, forward, nor after that, backward, until
// gradients come home.
TEST_CASE("branches do not wait for each other") {
    plan_view const d = view<pair>();
    int waits_of_second = 0, waits_of_third = 0;
    for (int g = 0; g < d.sizes.stages; ++g) {
        if (d.stages[g].after >= 0) {
            waits_of_second += d.stages[g].device == 1;
            waits_of_third += d.stages[g].device == 2;
        }
    }
    CHECK(waits_of_second == 1); // for the gradient of its code
    CHECK(waits_of_third == 1);  // for both codes
}
