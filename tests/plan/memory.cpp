// The memory of plans.
#include <castnet/zoo/resnet.hpp>

#include "labelled_run.hpp"

namespace cn = castnet;
using namespace planned;

namespace {

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
    check_plans<pooled, 20>("pooled");
    check_plans<pooled, 3>("pooled");
    check_plans<branches, 33>("branches");
}

TEST_CASE("also in large networks") {
    check_plans<cn::zoo::resnet50, 2, cn::cross_entropy_loss<0.0F>>("ResNet-50");
}
