// Updates of the used rows of embeddings only: against PyTorch's SparseAdam in double, and with all
// that adds to a table's gradient.
#include <castnet/castnet.hpp>
#include <castnet/policy/mirrored.hpp>

#include "exact_set.hpp"

#include <doctest/doctest.h>
#include <vector>

namespace cn = castnet;
using check::values;

namespace {

using where = cn::policy::basic_cpu<double>;

// sum(output * target), whose gradient with respect to the output is the target.
struct product_loss {
    static constexpr bool labels = false;
    static constexpr char const* name = "product";
    constexpr auto operator()(auto output, auto target) const { return cn::sum(output * target); }
};

constexpr auto table = cn::embedding<9, 3>.padding_idx(2);
using network = cn::sequential<cn::input_ids<9, 2>, table, cn::flatten>;
// The same with an input for each id: the gradients of both are added up.
struct two_inputs {
    static constexpr auto words = cn::shared<"0", table>;
    constexpr auto operator()(auto a, auto b) const { return cn::concat(a | words, b | words); }
};
using split_network = cn::network<two_inputs{}, cn::input_ids<9>, cn::input_ids<9>>;

check::golden_file const& file() {
    static check::golden_file const golden{"optimizers"};
    return golden;
}

// The tables after each of six steps of three samples.
template <class Model>
values trained(auto const& optimizer) {
    values const ids = file()["sparse_adam/ids"], targets = file()["sparse_adam/targets"];
    Model model;
    model.set("0.weight", file()["sparse_adam/weight0"]);
    auto training = cn::compile(model, product_loss{}, optimizer);
    values weights;
    auto const train = [&](auto const& data) {
        for (std::size_t step = 0; step < 6; ++step) {
            training.step(data, std::vector{3 * step, 3 * step + 1, 3 * step + 2});
            auto const w = model.get("0.weight");
            weights.insert(weights.end(), w.begin(), w.end());
            if (step == 2) { // reads what the step left
                values const g = training.gradient("0.weight");
                CHECK(std::count(g.begin(), g.end(), 0) == 9 * 3 - 5 * 3);
            }
        }
    };
    if constexpr (std::is_same_v<typename Model::network_type, network>) {
        train(check::exact_set<cn::shape<6>, cn::ids<9, 2>>{{ids}, targets, values(18, 1)});
    } else {
        values first, second;
        for (std::size_t i = 0; i < ids.size(); i += 2) {
            first.push_back(ids[i]);
            second.push_back(ids[i + 1]);
        }
        train(check::exact_set<cn::shape<6>, cn::ids<9>, cn::ids<9>>{
            {first, second}, targets, values(18, 1)});
    }
    return weights;
}

using model = cn::model<network, where, cn::batch<3>>;
using replicas = cn::model<network, cn::policy::logical<where, 3>, cn::batch<1>>;

} // namespace

TEST_CASE("a lazy Adam takes the steps of PyTorch's SparseAdam") {
    auto const adam = cn::lazy(cn::adam{.learning_rate = 0.05, .epsilon = 1e-16});
    values const expected = file()["sparse_adam/weights"];
    check::close("one input", trained<model>(adam), expected, 1e-12);
    check::close("two inputs", trained<cn::model<split_network, where, cn::batch<3>>>(adam),
                 expected, 1e-12);
    CHECK(trained<model>(cn::adam{.learning_rate = 0.05}) != expected);
}

TEST_CASE(
    "rows without a gradient are left alone with clipping, replicas, and in several batches") {
    auto const adam = cn::clip_norm(cn::lazy(cn::adam{.learning_rate = 0.05}), 0.5);
    values const once = trained<model>(adam);
    CHECK(trained<model>(cn::lazy(cn::clip_norm(cn::adam{.learning_rate = 0.05}, 0.5))) == once);
    check::close("replicas", trained<replicas>(adam), once, 1e-12);
    using third = cn::model<network, where, cn::batch<1>>;
    check::close("batches", trained<third>(cn::accumulate<3>(adam)), once, 1e-12);
}

TEST_CASE("optimizers to which a gradient of 0 means nothing give the same lazily") {
    values const dense = trained<model>(cn::momentum{.learning_rate = 0.1, .momentum = 0});
    CHECK(trained<model>(cn::sgd{.learning_rate = 0.1}) == dense);
    CHECK(trained<replicas>(cn::sgd{.learning_rate = 0.1}) ==
          trained<replicas>(cn::momentum{.learning_rate = 0.1, .momentum = 0}));
}
