#include <castnet/castnet.hpp>
#include <castnet/data.hpp>

#include "../io/hostile.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <filesystem>

using namespace castnet;
using namespace castnet::data;
using castnet::testing::check_mutations;
using castnet::testing::check_truncations;
using castnet::testing::refusal;
using castnet::testing::temporary_directory;
using doctest::Contains;

namespace {

using pairs = dataset<targets<label<5>, shape<2>>, shape<3>, shape<1, 2, 2>>;

pairs some_pairs(size_t count) {
    std::vector<float> x(count * 3), z(count * 2);
    std::vector<unsigned char> images(count * 4);
    std::vector<int> labels(count);
    for (size_t i = 0; i < count; ++i) {
        labels[i] = int(i % 5);
        for (size_t k = 0; k < 4; ++k) {
            images[4 * i + k] = static_cast<unsigned char>(i * 31 + k * 7);
        }
    }
    for (size_t i = 0; i < x.size(); ++i) {
        x[i] = float(i * 37 % 101) / 7;
    }
    for (size_t i = 0; i < z.size(); ++i) {
        z[i] = -float(i) / 3;
    }
    return pairs{std::move(x), column{std::move(images), 1.0 / 255}, std::move(labels),
                 std::move(z)};
}

// Images of bytes, as a folder has them.
using images = dataset<label<5>, shape<1, 2, 2>>;
images some_images(size_t count) {
    std::vector<unsigned char> bytes(count * 4);
    std::vector<int> labels(count);
    for (size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<unsigned char>(i * 41);
    }
    for (size_t i = 0; i < count; ++i) {
        labels[i] = int(i % 5);
    }
    return images{column{std::move(bytes), 1.0 / 255}, std::move(labels)};
}

// Counts what is read of it; fails at one sample.
template <class Data>
struct counted : adaptor<Data> {
    std::shared_ptr<std::atomic<int>> reads = std::make_shared<std::atomic<int>>(0);
    size_t fails_at = ~size_t{0};

    using adaptor<Data>::adaptor;
    template <size_t I = 0, class T>
    void copy_input(size_t sample, T* out) const {
        ++*reads;
        if (sample == fails_at) {
            throw file_error("picture.jpg", "cannot decode the JPEG");
        }
        adaptor<Data>::template copy_input<I>(sample, out);
    }
};

template <class Data>
std::vector<double> sample_of(Data const& data, size_t sample) {
    using row = castnet::data::detail::sample_row<Data>;
    std::vector<float> numbers(row::count);
    row::read(data, sample, numbers.data());
    return {numbers.begin(), numbers.end()};
}

template <class A, class B>
void check_same(A const& a, B const& b) {
    REQUIRE(a.size() == b.size());
    for (size_t i = 0; i < a.size(); ++i) {
        CHECK(sample_of(a, i) == sample_of(b, i));
    }
}

} // namespace

TEST_CASE("a sample in memory is read once, with all its inputs and targets") {
    counted<pairs> const source{some_pairs(20)};
    auto const kept = cache(source);
    CHECK(*source.reads == 0);
    for (int epoch = 0; epoch < 3; ++epoch) {
        check_same(kept, some_pairs(20));
    }
    CHECK(*source.reads == 20 * 2); // two inputs
    float x[4];
    CHECK_THROWS_WITH_AS(kept.copy_input<1>(20, x), Contains("sample number 20"), castnet::error);
}

TEST_CASE("samples that no memory can hold are refused at once") {
    auto const zero = [](size_t, auto x) { x[0] = 0; };
    for (int const bits : {60, 61, 62}) { // of eight bytes each: 2^63, and none modulo 2^64
        auto const endless = generated<shape<1>, shape<1>>(size_t{1} << bits, zero, zero);
        CHECK_THROWS_WITH_AS(cache(endless), Contains("not enough memory"), castnet::error);
    }
}

TEST_CASE("bytes are kept where numbers are bytes, and others refused") {
    counted<images> const source{some_images(30)};
    auto const kept = cache(source, {.bytes = true});
    check_same(kept, some_images(30));
    check_same(kept, some_images(30));
    CHECK(*source.reads == 30);
    double exact[4], as_double[4];
    kept.copy_input(7, as_double);
    some_images(30).copy_input(7, exact);
    CHECK(std::equal(exact, exact + 4, as_double));

    std::vector<float> const x{0.5F, 1, 0, 0};
    dataset<label<2>, shape<4>> const halves{x, std::vector<int>{1}};
    float out[4];
    CHECK_THROWS_WITH_AS(cache(halves, {.bytes = true}).copy_input(0, out),
                         Contains("input number 0 of sample 0 is 0.5"), castnet::error);
    check_same(cache(halves, {.bytes = true, .scale = 0.5}), halves);
    CHECK_THROWS_AS(cache(halves, {.bytes = true, .scale = 0}).copy_input(0, out), castnet::error);
}

TEST_CASE("a file is written once, and read from then on") {
    temporary_directory const folder;
    std::string const file = folder / "packed";
    for (bool const bytes : {false, true}) {
        counted<images> const source{some_images(700)};
        {
            auto const first = cache(source, {.file = file, .bytes = bytes});
            CHECK(*source.reads == 700);
            check_same(first, some_images(700));
        }
        auto const second = cache(source, {.file = file, .bytes = bytes});
        check_same(second, some_images(700));
        CHECK(*source.reads == 701); // the first one, to compare
        CHECK(io::read_file(file).size() == 64 + 700 * ((bytes ? 4U : 16U) + 4 + 4));
        CHECK(folder.names().size() == 1);
        std::filesystem::remove(file);
    }
    check_same(cache(some_pairs(20), {.file = file}), some_pairs(20));
}

TEST_CASE("a file of something else is refused, with what it holds") {
    temporary_directory const folder;
    std::string const file = folder / "packed";
    (void)cache(some_images(30), {.file = file});
    CHECK(refusal([&] { (void)cache(some_images(31), {.file = file}); }) ==
          Contains("holds 30 samples of 4 inputs as floats and 1 target, expected 31"));
    CHECK_THROWS_AS(cache(some_images(30), {.file = file, .bytes = true}), file_error);
    CHECK(refusal([&] { (void)cache(some_images(31).skip(1), {.file = file}); }) ==
          "castnet: " + doctest::String{file.c_str()} +
              ": the first sample is another than that of the data; remove the file to have it "
              "written again from the data");
    folder.put("text", castnet::testing::bytes_of(std::string(100, 'x')));
    CHECK(refusal([&] { (void)cache(some_images(30), {.file = folder / "text"}); }) ==
          Contains("does not hold packed samples"));
}

TEST_CASE("a damaged file is refused, or gives what was written") {
    temporary_directory const folder;
    std::string const file = folder / "packed";
    auto const data = some_images(6);
    (void)cache(data, {.file = file, .bytes = true});
    auto const whole = io::read_file(file);
    auto const read = [&](io::bytes const& content) {
        folder.put("damaged", content);
        auto const kept = cache(data, {.file = folder / "damaged", .bytes = true});
        for (size_t i = 0; i < data.size(); ++i) {
            auto const found = sample_of(kept, i); // or a file_error
            CHECK(found == sample_of(data, i));
        }
    };
    read(whole);
    check_truncations(whole, read);
    CHECK(check_mutations(whole, 3, 1000, read) > 100);
}

TEST_CASE("where a sample cannot be read there is no file, and the error names it") {
    temporary_directory const folder;
    counted<images> source{some_images(600)};
    source.fails_at = 431;
    CHECK(refusal([&] { (void)cache(source, {.file = folder / "packed"}); }) ==
          Contains("picture.jpg"));
    CHECK(folder.names().empty());
    auto const kept = cache(source);
    CHECK_THROWS_AS(sample_of(kept, 431), file_error);
    CHECK(sample_of(kept, 430) == sample_of(some_images(600), 430));
}

TEST_CASE("a cache refuses samples that change with every epoch") {
    auto const source = some_images(10);
    auto const refused = [](auto const& data) {
        CHECK_THROWS_WITH_AS(cache(data), Contains("change with every epoch"), castnet::error);
    };
    auto const flipped = augment(source, random_flip{});
    refused(flipped);
    refused(prefetch(subset{flipped, {1, 2}}, {.workers = 1}));
    refused(mixup(one_hot(source)));
    refused(balanced_sample(source));
    refused(random_crop<shape<1, 1, 1>>(source));
    CHECK(cache(center_crop<shape<1, 1, 1>>(source)).size() == 10);
    CHECK(cache(one_hot(source)).size() == 10);
}

TEST_CASE("what is trained does not depend on a cache, or on who reads it") {
    temporary_directory const folder;
    using net = sequential<input<1, 2, 2>, flatten, dense<5>>;
    auto const trained = [](auto const& data) {
        model<net, policy::cpu, batch<8>> m{seed{3}};
        auto training = compile(m, cross_entropy, adam{});
        training.fit(data, {.epochs = 3, .verbose = verbosity::silent});
        return m.get("1.weight");
    };
    auto const augmented = [](auto data) {
        return prefetch(augment(std::move(data), random_flip{}), {.workers = 3});
    };
    auto const expected = trained(augmented(some_images(50)));
    CHECK(trained(augmented(cache(some_images(50)))) == expected);
    CHECK(trained(augmented(cache(some_images(50), {.bytes = true}))) == expected);
    CHECK(trained(augmented(cache(some_images(50), {.file = folder / "f", .bytes = true}))) ==
          expected);
    CHECK(trained(augmented(cache(some_images(50), {.file = folder / "f", .bytes = true}))) ==
          expected);
}
