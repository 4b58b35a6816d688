// Steps of tiny networks, of which GCC 12 drops calls unless it is told that they write memory. (It
// does so in small files, so these cases stand alone.)
#include <castnet/castnet.hpp>

#include <cstddef>
#include <doctest/doctest.h>
#include <functional>
#include <type_traits>
#include <vector>

namespace cn = castnet;

namespace {

// One score of each sample and numbers that all share, as the thresholds of ordinal regression.
template <std::size_t Count, class Join>
struct ranks {
    constexpr auto operator()(auto x) const {
        auto const shared = cn::new_parameter<cn::shape<Count>>(*x.g, "shared", {});
        return Join{}(x | cn::named<"score", cn::dense<1>.no_bias()>, shared);
    }
};
struct square_sum {
    using targets = cn::data::targets<>;
    constexpr auto operator()(auto x) const { return cn::sum(cn::square(x)); }
};

// The samples' scores are 3 and 9, and the numbers 2.
template <std::size_t Count, class T, class Join>
void check_step(Join) {
    CAPTURE(Count);
    constexpr bool adds = std::is_same_v<Join, std::plus<>>;
    using network = cn::network<ranks<Count, Join>{}, cn::input<3>>;
    cn::model<network, cn::policy::basic_cpu<T>, cn::batch<4>> model;
    model.set("score.weight", std::vector<T>{1, 1, 1});
    model.set("shared", std::vector<T>(Count, 2));
    auto training = cn::compile(model, square_sum{}, cn::sgd{.learning_rate = 0});

    cn::data::dataset<cn::data::targets<>, cn::shape<3>> const data{
        std::vector<float>{1, 1, 1, 3, 3, 3}};
    std::size_t const both[] = {0, 1};
    T const first = adds ? 5 : 6, second = adds ? 11 : 18; // of the outputs
    auto outputs = std::vector<T>(Count, first);
    outputs.resize(2 * Count, second);
    CHECK(model.predict(data) == outputs);
    double const loss = double(Count) * double(first * first + second * second) / 2;
    CHECK(training.evaluate(data).loss() == loss);
    CHECK(training.step(data, both).loss() == loss);
    CHECK(training.gradient("shared") ==
          std::vector<T>(Count, adds ? first + second : first * 3 + second * 9));
    T const by_score = adds ? 1 : 2;
    CHECK(training.gradient("score.weight") ==
          std::vector<T>(3, T(Count) * by_score * (first + 3 * second)));
}

} // namespace

TEST_CASE("a number of each sample is combined with others") {
    check_step<2, float>(std::plus{});
    check_step<4, float>(std::plus{});
    check_step<8, double>(std::plus{});
    check_step<2, double>(std::multiplies{});
    check_step<4, float>(std::multiplies{});
    check_step<8, float>(std::multiplies{});
}
