#include <castnet/castnet.hpp>
#include <castnet/data/statistics.hpp>

#include "../io/hostile.hpp"

#include <doctest/doctest.h>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

namespace cn = castnet;
using castnet::testing::refusal;
using castnet::testing::temporary_directory;
using doctest::Contains;

namespace {

using net = cn::sequential<cn::input<2>, cn::dense<3>>;
using model = cn::model<net, cn::policy::cpu, cn::batch<4>>;

cn::data::description const pets{.classes = {"cat", "dog \"of\" mine", "\xC3\xA9toile\n"},
                                 .channels = {{0.1, 1e-300, -3}, {1.0 / 3, 2, 4e200}}};

void save_with(std::string const& file, cn::io::safetensors_metadata const& metadata) {
    float const weight[6] = {}, bias[3] = {};
    std::vector<cn::io::stored_tensor> const tensors{cn::io::tensor_of("0.weight", {3, 2}, weight),
                                                     cn::io::tensor_of("0.bias", {3}, bias)};
    cn::io::save_safetensors(file, tensors, metadata);
}

} // namespace

TEST_CASE("class names and statistics travel with the file of a model, bit by bit") {
    temporary_directory const folder;
    std::string const file = folder / "m.safetensors";
    model saved{cn::seed{3}};
    CHECK(saved.description() == cn::data::description{});
    saved.describe(pets);
    cn::save(saved, file);
    model loaded;
    cn::load(loaded, file);
    CHECK(loaded.description() == pets);
    CHECK(loaded.get("0.weight") == saved.get("0.weight"));
    auto const metadata = cn::io::load_safetensors(file).metadata();
    CHECK(metadata.at("castnet.classes") ==
          "[\"cat\",\"dog \\\"of\\\" mine\",\"\xC3\xA9toile\\u000a\"]");
}

TEST_CASE("a model is loaded from the bytes of a file in memory") {
    temporary_directory const folder;
    std::string const file = folder / "m.safetensors";
    model saved{cn::seed{3}};
    saved.describe(pets);
    cn::save(saved, file);
    std::ifstream in{file, std::ios::binary};
    std::vector<unsigned char> bytes{std::istreambuf_iterator<char>{in}, {}};
    model loaded;
    cn::load(loaded, bytes);
    CHECK(loaded.description() == pets);
    CHECK(loaded.get("0.weight") == saved.get("0.weight"));

    bytes.pop_back();
    CHECK(refusal([&] { cn::load(loaded, bytes); }) == Contains("castnet: weights in memory: "));
    CHECK(loaded.get("0.weight") == saved.get("0.weight"));
}

TEST_CASE("a file without a description leaves the model's; only classes are one, too") {
    temporary_directory const folder;
    std::string const file = folder / "m.safetensors";
    cn::save(model{}, file);
    CHECK(!cn::io::load_safetensors(file).metadata().contains("castnet.classes"));
    model loaded;
    loaded.describe(pets);
    cn::load(loaded, file);
    CHECK(loaded.description() == pets);
    model named;
    named.describe({.classes = {"a", "b", "c"}});
    cn::save(named, file);
    cn::load(loaded, file);
    CHECK(loaded.description() == named.description());
}

TEST_CASE("checkpoints and the best parameters have it, too") {
    temporary_directory const folder;
    std::string const file = folder / "t.safetensors";
    model m;
    m.describe(pets);
    auto training = cn::compile(m, cn::cross_entropy, cn::adam{});
    cn::save(training, file);
    model other;
    cn::load(other, file);
    CHECK(other.description() == pets);
    model resumed;
    auto again = cn::compile(resumed, cn::cross_entropy, cn::adam{});
    cn::load(again, file);
    CHECK(resumed.description() == pets);
}

TEST_CASE("a description that no file could hold is refused at once") {
    model m{cn::seed{5}};
    auto const refused = [&](cn::data::description const& d) {
        return castnet::testing::refusal_of<cn::error>([&] { m.describe(d); });
    };
    double const none = std::numeric_limits<double>::quiet_NaN();
    CHECK(refused({.channels = {{1, 2}, {1}}}) ==
          "castnet: describe: found 2 means and 1 deviation, expected as many of both");
    CHECK(refused({.channels = {{1, none}, {1, 1}}}) ==
          "castnet: describe: a mean is nan, expected a finite number");
    CHECK(refused({.classes = {"a", "\xFF"}}) ==
          "castnet: describe: the name of a class is \"\\xff\", expected UTF-8");
    CHECK(m.description() == cn::data::description{});
}

TEST_CASE("a description that is none is refused, and the model left as it was") {
    temporary_directory const folder;
    std::string const file = folder / "m.safetensors";
    model m{cn::seed{5}};
    m.describe(pets);
    auto const before = m.get("0.weight");
    auto const refused = [&](cn::io::safetensors_metadata const& metadata) {
        save_with(file, metadata);
        auto const why = refusal([&] { cn::load(m, file); });
        CHECK(m.get("0.weight") == before);
        CHECK(m.description() == pets);
        return why;
    };
    CHECK(refused({{"castnet.classes", "cat"}}) == Contains("castnet.classes of its metadata"));
    CHECK(refused({{"castnet.classes", "[1]"}}) == Contains("the name of a class"));
    CHECK(refused({{"castnet.classes", "[\"a\"] "
                                       "b"}}) != Contains("(accepted)"));
    CHECK(refused({{"castnet.mean", "1 2"}}) == Contains("2 means and 0 deviations"));
    CHECK(refused({{"castnet.mean", "1 x"}, {"castnet.deviation", "1 1"}}) ==
          Contains("expected finite numbers"));
    CHECK(refused({{"castnet.mean", "inf"}, {"castnet.deviation", "1"}}) ==
          Contains("expected finite numbers"));
    save_with(file, {{"other", "text"}});
    cn::load(m, file);
    CHECK(m.description() == pets);
}
