#include <castnet/data/fashion_mnist.hpp>

#include "../io/hostile.hpp"

using namespace castnet;
using namespace castnet::testing;
using doctest::Contains;

namespace {

io::bytes images(unsigned char count, unsigned char width = 28) {
    io::bytes file(size_t{28} * width * count, 255);
    file.insert(file.begin(), {0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 28, 0, 0, 0, width});
    return file;
}

io::bytes labels(io::bytes const& values) {
    auto file = values;
    auto const count = static_cast<unsigned char>(values.size());
    file.insert(file.begin(), {0, 0, 8, 1, 0, 0, 0, count});
    return file;
}

// A directory with two samples to train with and one to test with.
struct mnist_directory : temporary_directory {
    mnist_directory() {
        put("train-images-idx3-ubyte", images(2));
        put("train-labels-idx1-ubyte", labels({9, 3}));
        put("t10k-images-idx3-ubyte", images(1));
        put("t10k-labels-idx1-ubyte", labels({5}));
    }
    doctest::String message() const {
        return refusal([&] { data::mnist(path); });
    }
};

} // namespace

TEST_CASE("MNIST is read from plain files") {
    mnist_directory const directory;
    auto const sets = data::mnist(directory.path);
    CHECK(sets.train.size() == 2);
    CHECK(sets.test.size() == 1);
    float target = 0;
    sets.train.copy_target(1, &target);
    CHECK(target == 3.0F);
    std::vector<float> pixels(784);
    sets.train.copy_input(1, pixels.data());
    CHECK(pixels == std::vector<float>(784, 1.0F));
}

TEST_CASE("MNIST files that do not fit are refused with what to do") {
    mnist_directory const directory;
    auto const swap = [&] {
        std::rename((directory / "train-labels-idx1-ubyte").c_str(), (directory / "x").c_str());
        std::rename((directory / "train-images-idx3-ubyte").c_str(),
                    (directory / "train-labels-idx1-ubyte").c_str());
        std::rename((directory / "x").c_str(), (directory / "train-images-idx3-ubyte").c_str());
    };
    swap();
    CHECK(directory.message() == Contains("train-images-idx3-ubyte: byte 3: found 1 axis, expected "
                                          "3: the file holds labels where images were expected"));
    swap();
    directory.put("train-labels-idx1-ubyte", images(2));
    CHECK(directory.message() == Contains("holds images where labels were expected"));
    directory.put("train-labels-idx1-ubyte", labels({1, 2, 3}));
    CHECK(directory.message() ==
          Contains("byte 4: found 3 labels, expected one for each of the 2 images"));
    directory.put("train-labels-idx1-ubyte", labels({1, 10}));
    CHECK(directory.message() == Contains("byte 9: found the label 10, expected 0 to 9"));
    directory.put("train-labels-idx1-ubyte", {0, 0, 9, 1, 0, 0, 0, 1, 1});
    CHECK(directory.message() == Contains("byte 2: found labels of type I8, expected U8, bytes"));
    directory.put("train-labels-idx1-ubyte", {0, 0, 8, 1, 0, 0, 0, 9, 1});
    CHECK(directory.message() == Contains("cut short"));
    directory.put("train-images-idx3-ubyte", images(2, 32));
    CHECK(directory.message() == Contains("byte 8: found images of 28 x 32, expected 28 x 28"));
    auto floats = images(1);
    floats[2] = 13;
    floats.resize(16 + 4 * 28 * 28);
    directory.put("train-images-idx3-ubyte", floats);
    CHECK(directory.message() == Contains("byte 2: found images of type F32, expected U8, bytes"));
    directory.put("train-images-idx3-ubyte", {0, 0, 8, 0, 1});
    CHECK(directory.message() == Contains("neither images nor labels"));
}

#ifdef CASTNET_HAS_ZLIB

TEST_CASE("a message about an unpacked file names the packed one") {
    mnist_directory const directory;
    auto const path = directory / "train-labels-idx1-ubyte";
    auto* const packed = ::gzopen((path + ".gz").c_str(), "wb");
    auto const content = labels({1, 10});
    ::gzwrite(packed, content.data(), unsigned(content.size()));
    ::gzclose(packed);
    ::unlink(path.c_str());
    CHECK(directory.message() == Contains("train-labels-idx1-ubyte.gz: byte 9: found the label"));
}

#endif

TEST_CASE("a missing directory or file says where to get it") {
    CHECK(refusal([] { data::fashion_mnist("/nonexistent"); }) ==
          Contains("install the Debian package dataset-fashion-mnist, or pass the directory"));
    mnist_directory const directory;
    ::unlink((directory / "t10k-labels-idx1-ubyte").c_str());
    CHECK(directory.message() == Contains("t10k-labels-idx1-ubyte: found neither this file nor"));
}

TEST_CASE("the Fashion-MNIST of the Debian package") {
    auto const first = "/usr/share/datasets/fashion-mnist/train-labels-idx1-ubyte";
    if (!io::exists(first) && !io::exists(std::string(first) + ".gz")) {
        MESSAGE("skipped: the Debian package dataset-fashion-mnist is not installed");
        return;
    }
#ifndef CASTNET_HAS_ZLIB
    CHECK(refusal([] { data::fashion_mnist(); }) == Contains("castnet::zlib"));
#else
    auto const sets = data::fashion_mnist();
    REQUIRE(sets.train.size() == 60'000);
    REQUIRE(sets.test.size() == 10'000);
    unsigned count[10] = {};
    double mean = 0;
    for (size_t i = 0; i < 60'000; ++i) {
        float pixels[784], target = 0;
        sets.train.copy_target(i, &target);
        ++count[static_cast<int>(target)];
        sets.train.copy_input(i, pixels);
        double sum = 0;
        for (float const pixel : pixels) {
            sum += static_cast<double>(pixel);
        }
        mean += sum / 784 / 60'000;
    }
    for (unsigned const n : count) {
        CHECK(n == 6000);
    }
    CHECK(mean == doctest::Approx(0.2860).epsilon(0.001)); // known: 0.2860
    float target = 0;
    sets.test.copy_target(0, &target);
    CHECK(target == 9.0F); // an ankle boot
#endif
}
