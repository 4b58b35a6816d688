#include <castnet/data/cifar.hpp>

#include "../io/hostile.hpp"

using namespace castnet;
using namespace castnet::testing;

namespace {

// `count` records with these numbers of labels; the pixels of record i have the value i.
io::bytes records(size_t count, size_t labels, unsigned char label) {
    io::bytes content;
    for (size_t i = 0; i < count; ++i) {
        content.insert(content.end(), labels - 1, 9);
        content.push_back(label);
        content.insert(content.end(), 3072, static_cast<unsigned char>(i));
    }
    return content;
}

} // namespace

TEST_CASE("the batches of CIFAR-10 follow each other") {
    temporary_directory const folder;
    for (unsigned char number = 1; number <= 5; ++number) {
        folder.put("data_batch_" + std::to_string(number) + ".bin", records(2, 1, number));
    }
    folder.put("test_batch.bin", records(3, 1, 0));
    auto const [train, test] = data::cifar10(folder.path);
    CHECK(train.size() == 10);
    CHECK(test.size() == 3);
    float label = 0;
    std::vector<float> x(3072);
    train.copy_target(7, &label);
    train.copy_input(7, x.data());
    CHECK(label == 4);
    CHECK(x[3071] == doctest::Approx(1 / 255.0));
    folder.put("test_batch.bin", records(1, 1, 10));
    CHECK(refusal([&] { data::cifar10(folder.path); }) ==
          doctest::String(("castnet: " + (folder / "test_batch.bin") +
                           ": byte 0: found the label 10, expected 0 to 9")
                              .c_str()));
    folder.put("test_batch.bin", io::bytes(3074));
    CHECK(refusal([&] { data::cifar10(folder.path); }) ==
          doctest::String(("castnet: " + (folder / "test_batch.bin") +
                           ": found 3074 bytes, expected records of 3073, a label and an image "
                           "each")
                              .c_str()));
}

TEST_CASE("CIFAR-100 has two labels, of which the fine one counts") {
    temporary_directory const folder;
    folder.put("train.bin", records(2, 2, 99));
    folder.put("test.bin", records(1, 2, 3));
    auto const sets = data::cifar100(folder.path);
    float label = 0;
    sets.train.copy_target(1, &label);
    CHECK(label == 99);
    CHECK(sets.test.size() == 1);
}
