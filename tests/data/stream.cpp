#include <castnet/castnet.hpp>
#include <castnet/data.hpp>

#include "../io/hostile.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <memory>

namespace cn = castnet;

namespace {

constexpr size_t count = 45;

float number(size_t sample, size_t place) {
    return float(sample * 37 % 41 + place * 3) / 41;
}

// How often the source was opened, and how many samples were read.
struct reads {
    std::atomic<int> opened = 0, read = 0;
};

// ends: after so many samples; fails: at this one, the first time.
auto source(std::shared_ptr<reads> const& seen, size_t ends = count, size_t fails = count) {
    return [=] {
        ++seen->opened;
        return [=, next = size_t{0}](auto x, auto kind) mutable {
            if (next == ends) {
                return false;
            }
            if (next == fails && seen->opened == 1) {
                throw std::runtime_error("the line was cut");
            }
            ++seen->read;
            x[0] = number(next, 0);
            x[1] = number(next, 1);
            kind[0] = float(next % 3);
            ++next;
            return true;
        };
    };
}
auto streamed(std::shared_ptr<reads> const& seen, size_t buffer, size_t ends = count,
              size_t fails = count) {
    return cn::data::stream<cn::data::label<3>, cn::shape<2>>(count, source(seen, ends, fails),
                                                              {.shuffle_buffer = buffer});
}

// The same in memory.
auto in_memory() {
    std::vector<float> x;
    std::vector<int> kinds;
    for (size_t i = 0; i < count; ++i) {
        x.insert(x.end(), {number(i, 0), number(i, 1)});
        kinds.push_back(int(i % 3));
    }
    return cn::data::dataset<cn::data::label<3>, cn::shape<2>>{x, kinds};
}

using net = cn::sequential<cn::input<2>, cn::dense<4>, cn::tanh, cn::dense<3>>;
struct run {
    cn::model<net, cn::policy::cpu, cn::batch<8>> model{cn::seed{4}};
    decltype(cn::compile(model, cn::cross_entropy, cn::adam{})) training =
        cn::compile(model, cn::cross_entropy, cn::adam{});

    auto fit(auto const& data, int epochs = 3) {
        return training.fit(data, {.epochs = epochs, .verbose = cn::verbosity::silent});
    }
    auto weights() const { return model.get("0.weight"); }
};

} // namespace

TEST_CASE("a stream with room for all samples is trained as the same samples in memory") {
    run memory, stream;
    auto const seen = std::make_shared<reads>();
    CHECK(stream.fit(streamed(seen, count))["loss"] == memory.fit(in_memory())["loss"]);
    CHECK(stream.weights() == memory.weights());
    CHECK(seen->opened == 3); // once in an epoch
    CHECK(seen->read == 3 * count);
}

TEST_CASE("a buffer's order is that of its samples' numbers, with workers and without") {
    run expected;
    auto const data = in_memory();
    std::vector<size_t> order(count);
    for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
        cn::data::shuffle(order, 4, epoch, 6);
        for (size_t first = 0; first < count; first += 8) {
            expected.training.step(
                data, std::span{order}.subspan(first, std::min<size_t>(8, count - first)));
        }
    }
    auto const seen = std::make_shared<reads>();
    run plain, ahead;
    plain.fit(streamed(seen, 6), 2);
    CHECK(plain.weights() == expected.weights());
    CHECK(seen->opened == 2);
    ahead.fit(cn::data::prefetch(streamed(seen, 6), {.workers = 3}), 2);
    CHECK(ahead.weights() == expected.weights());
    CHECK(seen->opened == 4);
    CHECK(seen->read == 4 * count);
}

TEST_CASE("samples that come several times in an epoch are read once") {
    run memory, stream;
    auto const seen = std::make_shared<reads>();
    auto const repeated = cn::data::repeat(streamed(seen, 2 * count), 2);
    CHECK(stream.fit(repeated)["loss"] == memory.fit(cn::data::repeat(in_memory(), 2))["loss"]);
    CHECK(seen->opened == 3);
    CHECK(seen->read == 3 * count);
}

TEST_CASE("a training on a stream goes on within an epoch") {
    castnet::testing::temporary_directory const folder;
    std::string const file = folder / "state.safetensors";
    auto const seen = std::make_shared<reads>();
    run whole, first, second;
    whole.fit(streamed(seen, 10));
    first.training.fit(streamed(seen, 10),
                       {.epochs = 3,
                        .verbose = cn::verbosity::silent,
                        .checkpoint = cn::checkpoint(first.training, file),
                        .callbacks = {cn::on_step_end{[](auto& r) { r.stop = r.step == 9; }}}});
    cn::load(second.training, file);
    second.fit(streamed(seen, 10));
    CHECK(second.weights() == whole.weights());
}

TEST_CASE("outside of a fit samples come in the source's order") {
    auto const seen = std::make_shared<reads>();
    auto const data = streamed(seen, 5);
    run r;
    CHECK(r.training.evaluate(data).loss() == r.training.evaluate(in_memory()).loss());
    CHECK(r.model.predict(data) == r.model.predict(in_memory()));
    CHECK(r.model.predict(cn::data::skip(data, 30)) ==
          r.model.predict(cn::data::skip(in_memory(), 30)));
    float x[2];
    data.copy_input(3, x); // is read anew
    CHECK(x[1] == number(3, 1));
    CHECK_THROWS_WITH_AS(data.copy_input(count, x), doctest::Contains("sample number 45"),
                         cn::error);
    castnet::testing::temporary_directory const folder;
    auto const kept = cn::data::cache(streamed(seen, 64), {.file = folder / "kept"});
    run cached, memory;
    CHECK(cached.fit(kept)["loss"] == memory.fit(in_memory())["loss"]);
}

TEST_CASE("more samples than memory has room for the numbers of are refused with their number") {
    size_t const most = size_t{1} << 62;
    auto const source = [] {
        return [](auto x, auto y) {
            x[0] = x[1] = 1;
            y[0] = 0;
            return true;
        };
    };
    auto const endless = cn::data::stream<cn::data::label<3>, cn::shape<2>>(most, source);
    run r;
    auto const refused = [](auto const& f) {
        CHECK_THROWS_WITH_AS(f(), doctest::Contains("of 4611686018427387904 samples; "), cn::error);
    };
    refused([&] { r.fit(endless); });
    refused([&] { r.training.step(endless); });
    refused([&] { r.training.evaluate(endless); });
    refused([&] { (void)r.model.predict(endless); });
    refused([&] { cn::data::take(endless, most); });
    refused([&] { cn::data::k_fold(endless, 2, 0); });
    refused([&] { r.fit(cn::data::take(endless, 9)); });
}

TEST_CASE("a stream that ends early or throws says at which sample") {
    auto const seen = std::make_shared<reads>();
    run r;
    CHECK_THROWS_WITH_AS(r.fit(streamed(seen, 5, 30)),
                         "castnet: data::stream: the source ended after 30 samples, expected 45",
                         cn::error);
    auto const again = std::make_shared<reads>();
    auto const failing = streamed(again, 5, count, 20);
    CHECK_THROWS_WITH_AS(r.fit(failing),
                         "castnet: fit: epoch 1: sample 20 of the data: the line was cut",
                         cn::sample_error);
    CHECK(r.fit(failing, 1)["loss"].size() == 1); // begins anew
}
