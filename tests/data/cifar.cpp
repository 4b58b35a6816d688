#include <castnet/data/cifar.hpp>

#include "../io/hostile.hpp"

using namespace castnet;
using namespace castnet::testing;

namespace {

// A file of `count` records with these numbers of labels. The first ones, at most three, have this
// one, and the pixels of record i the value i; the others are zeros, which take no room on the
// disk.
void put(temporary_directory const& folder, std::string const& name, size_t count, size_t labels,
         unsigned char label) {
    io::bytes content;
    for (size_t i = 0; i < std::min(count, size_t{3}); ++i) {
        content.insert(content.end(), labels - 1, 9);
        content.push_back(label);
        content.insert(content.end(), 3072, static_cast<unsigned char>(i));
    }
    std::filesystem::resize_file(folder.put(name, content), count * (labels + 3072));
}

} // namespace

TEST_CASE("the batches of CIFAR-10 follow each other") {
    temporary_directory const folder;
    for (unsigned char number = 1; number <= 5; ++number) {
        put(folder, "data_batch_" + std::to_string(number) + ".bin", 10'000, 1, number);
    }
    put(folder, "test_batch.bin", 10'000, 1, 0);
    auto const [train, test] = data::cifar10(folder.path);
    CHECK(train.size() == 50'000);
    CHECK(test.size() == 10'000);
    float label = 0;
    std::vector<float> x(3072);
    train.copy_target(30'001, &label);
    train.copy_input(30'001, x.data());
    CHECK(label == 4);
    CHECK(x[3071] == doctest::Approx(1 / 255.0));
}

TEST_CASE("damaged batches of CIFAR-10 are refused, also those cut between two images") {
    temporary_directory const folder;
    auto const first = folder / "data_batch_1.bin";
    auto const refuses = [&](std::string const& why) {
        CHECK(refusal([&] { data::cifar10(folder.path); }) ==
              doctest::String(("castnet: " + first + ": " + why).c_str()));
    };
    put(folder, "data_batch_1.bin", 10'000, 1, 10);
    refuses("byte 0: found the label 10, expected 0 to 9");
    put(folder, "data_batch_1.bin", 9'999, 1, 0);
    refuses("found 30726927 bytes, expected 30730000: 10000 labels with an image each");
    put(folder, "data_batch_1.bin", 10'001, 1, 0);
    refuses("found more than 30730000 bytes, expected 30730000: 10000 labels with an image each");
}

TEST_CASE("CIFAR-100 has two labels, of which the fine one counts") {
    temporary_directory const folder;
    put(folder, "train.bin", 50'000, 2, 99);
    put(folder, "test.bin", 10'000, 2, 3);
    auto const sets = data::cifar100(folder.path);
    float label = 0;
    sets.train.copy_target(1, &label);
    CHECK(label == 99);
    CHECK(sets.test.size() == 10'000);
}
