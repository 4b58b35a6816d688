// Steps of tiny networks, of which GCC 12 drops calls unless it is told that they write memory. (It
// does so in small files, so this case stands alone.)
#include <castnet/castnet.hpp>

#include <cstddef>
#include <doctest/doctest.h>
#include <vector>

namespace cn = castnet;

namespace {

struct ranks { // one score of each sample and thresholds that all share, as in ordinal regression
    constexpr auto operator()(auto x) const {
        auto const thresholds = cn::new_parameter<cn::shape<4>>(*x.g, "thresholds", {});
        return (x | cn::named<"score", cn::dense<1>.no_bias()>)+thresholds;
    }
};
struct square_sum {
    using targets = cn::data::targets<>;
    constexpr auto operator()(auto x) const { return cn::sum(cn::square(x)); }
};

} // namespace

TEST_CASE("a number of each sample is added to four others") {
    cn::model<cn::network<ranks{}, cn::input<3>>, cn::policy::cpu, cn::batch<4>> model;
    model.set("score.weight", std::vector<float>{1, 1, 1});
    model.set("thresholds", std::vector<float>(4, 2));
    auto training = cn::compile(model, square_sum{}, cn::sgd{.learning_rate = 0});

    cn::data::dataset<cn::data::targets<>, cn::shape<3>> const data{
        std::vector<float>{1, 1, 1, 3, 3, 3}}; // the outputs are 5 and 11
    std::size_t const both[] = {0, 1};
    CHECK(training.evaluate(data).loss() == 4 * (25 + 121) / 2.0);
    CHECK(training.step(data, both).loss() == 4 * (25 + 121) / 2.0);
    CHECK(training.gradient("thresholds") == std::vector<float>(4, 5 + 11));
    CHECK(training.gradient("score.weight") == std::vector<float>(3, 4 * (5 + 3 * 11)));
}
