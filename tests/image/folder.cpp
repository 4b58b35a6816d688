#include <castnet/castnet.hpp>
#include <castnet/image.hpp>

#include "../io/hostile.hpp"
#include "bitmaps.hpp"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <filesystem>

namespace cn = castnet;
namespace fs = std::filesystem;
using cn::image::broken_files;
using cn::image::folder;
using doctest::Contains;
using image_test::some_bitmap;

namespace {

using small = folder<2, cn::shape<3, 8, 8>>;

// root/{cat,dog}/<number>.{png,jpg}, of which the cats are dark.
struct two_classes {
    castnet::testing::temporary_directory root;

    explicit two_classes(int each = 6) {
        for (std::string const name : {"cat", "dog"}) {
            fs::create_directories(root.path + '/' + name + "/more");
            for (int i = 0; i < each; ++i) {
                auto image = some_bitmap(10 + size_t(i), 12, 3);
                for (unsigned char& byte : image.pixels) {
                    byte = static_cast<unsigned char>(name == "cat" ? byte / 4 : 255 - byte / 4);
                }
                std::string const more = i % 3 == 0 ? "/more/" : "/";
                std::string const ending = i % 2 == 0 ? ".png" : ".jpg";
                cn::image::write(root.path + '/' + name + more + std::to_string(i) + ending, image);
            }
        }
    }
};

} // namespace

TEST_CASE("a folder's classes are its sub-folders, sorted by name") {
    two_classes const made;
    fs::create_directory(made.root.path + "/.hidden");
    fs::create_directory(made.root.path + "/cat/.checkpoints");
    for (std::string const hidden : {"/cat/.checkpoints/1.jpg", "/dog/._1.jpg"}) {
        fs::copy_file(made.root.path + "/cat/1.jpg", made.root.path + hidden);
    }
    small const images{made.root.path};
    CHECK(images.size() == 12);
    CHECK(images.class_names() == std::vector<std::string>{"cat", "dog"});
    CHECK(images.file(0) == made.root.path + "/cat/1.jpg");
    for (size_t i = 0; i < images.size(); ++i) {
        float label = -1;
        images.copy_target(i, &label);
        CHECK(label == (images.file(i).find("/dog/") == std::string::npos ? 0 : 1));
    }
    small const turned{made.root.path, {.classes = {"dog", "cat"}}};
    float label = -1;
    turned.copy_target(0, &label);
    CHECK(turned.file(0).find("/dog/") != std::string::npos);
    CHECK(label == 0);
}

TEST_CASE("links to folders are followed, but not to those that they lie in") {
    two_classes const made;
    std::string const root = fs::absolute(made.root.path).string(), cats = root + "/cat";
    fs::create_directory_symlink(cats, cats + "/self");
    fs::create_directory_symlink(root, cats + "/more/up");
    fs::create_directory_symlink(fs::absolute("."), cats + "/far_up");
    CHECK(cn::image::detail::images_in(cats).size() == 6);
    fs::create_directory_symlink(root + "/dog/more", cats + "/linked");
    CHECK(cn::image::detail::images_in(cats).size() == 8);
    fs::create_directory(root + "/links");
    fs::create_directory_symlink(cats, root + "/links/cat");
    fs::create_directory_symlink(root + "/links", cats + "/among_links");
    CHECK(cn::image::detail::images_in(root + "/links/cat").size() == 8);
}

TEST_CASE("a link to an image that is missing is no image less, but an error when it is read") {
    two_classes const made;
    std::string const link = made.root.path + "/cat/link.png";
    fs::create_symlink("nothing.png", link);
    std::vector<std::string> const files = cn::image::detail::images_in(made.root.path + "/cat");
    CHECK(std::find(files.begin(), files.end(), link) != files.end());
    std::vector<float> x(3 * 8 * 8);
    CHECK_THROWS_WITH_AS((small{{link}, {0}}.copy_input(0, x.data())),
                         doctest::Contains("link.png: cannot open the file for reading"),
                         cn::file_error);
}

TEST_CASE("an image is resized and scaled, channel after channel") {
    two_classes const made;
    std::string const file = made.root.path + "/cat/2.png";
    auto const numbers = [&](cn::image::folder_options const& options) {
        std::vector<float> x(3 * 8 * 8);
        small{{file}, {0}, options}.copy_input(0, x.data());
        return x;
    };
    auto const image = cn::image::read(file);
    auto const resized = cn::image::resize(image, 8, 8);
    auto const x = numbers({});
    auto const raw = numbers({.scale = 2, .offset = -1});
    for (size_t c = 0; c < 3; ++c) {
        for (size_t i = 0; i < 64; ++i) {
            CHECK(x[c * 64 + i] == doctest::Approx(resized.pixels[i * 3 + c] / 255.0));
            CHECK(raw[c * 64 + i] == 2 * resized.pixels[i * 3 + c] - 1);
        }
    }
    auto const middle = numbers({.frame = cn::image::framing::middle, .scale = 1});
    auto const part = cn::image::resize(image, 8, 8, cn::image::interpolation::bilinear,
                                        cn::image::middle_of(image, 8, 8));
    CHECK(middle[0] == part.pixels[0]);
    CHECK(middle[64 + 9] == part.pixels[9 * 3 + 1]);
}

TEST_CASE("a folder that does not fit says what was found") {
    two_classes const made;
    using three = folder<3, cn::shape<1, 8, 8>>;
    CHECK_THROWS_WITH_AS(three{made.root.path},
                         Contains("found 2 classes (\"cat\", \"dog\"), expected 3"),
                         cn::file_error);
    std::filesystem::create_directories(made.root.path + "/cat/odd/\x1b[2J");
    CHECK_THROWS_WITH_AS(small{made.root.path + "/cat/odd"}, Contains("(\"\\x1b[2J\")"),
                         cn::file_error);
    CHECK_THROWS_WITH_AS(small{made.root.path + "/none"}, Contains("cannot list the folder"),
                         cn::file_error);
    CHECK_THROWS_WITH_AS(small{made.root.path + "/cat/more"},
                         Contains("/more: found 0 classes, expected 2, a sub-folder for each"),
                         cn::file_error);
    fs::create_directory(made.root.path + "/empty");
    CHECK_THROWS_WITH_AS(three{made.root.path}, Contains("empty: found no .jpg, .jpeg or .png"),
                         cn::file_error);
    CHECK_THROWS_WITH_AS((small{made.root.path, {.classes = {"cat", "cat"}}}),
                         Contains("the class \"cat\" was given twice"), cn::file_error);
    CHECK_THROWS_WITH_AS((small{{"a.jpg"}, {2}}), Contains("the label of a.jpg is 2"), cn::error);
    CHECK_THROWS_WITH_AS((small{{"a.jpg"}, {1}, {.scale = HUGE_VAL}}),
                         "castnet: image::folder: scale is inf, expected a finite number",
                         cn::error);
    CHECK_THROWS_WITH_AS((small{{"a.jpg"}, std::vector<int>{}}), Contains("1 file and 0 labels"),
                         cn::error);
    CHECK_THROWS_WITH_AS((small{{"a.jpg"}, {1}, {.classes = {"cat"}}}),
                         Contains("found 1 name of classes (\"cat\"), expected 2, or none"),
                         cn::error);
}

TEST_CASE("a sample that a folder does not have is an error") {
    small const images{{"a.jpg"}, {1}};
    float x[3 * 8 * 8];
    CHECK_THROWS_WITH_AS(images.copy_input(1, x),
                         "castnet: image::folder: found sample number 1, expected one below 1",
                         cn::error);
    CHECK_THROWS_AS(images.copy_target(1, x), cn::error);
    CHECK_THROWS_AS(images.file(1), cn::error);
}

TEST_CASE("broken images fail by name, or are left out and listed") {
    two_classes const made;
    std::string const broken = made.root.path + "/cat/broken.jpg";
    fs::copy_file(made.root.path + "/cat/1.jpg", broken);
    fs::resize_file(broken, fs::file_size(broken) / 2);
    small const all{made.root.path};
    CHECK(all.size() == 13);
    float x[3 * 8 * 8];
    size_t failed = 0;
    for (size_t i = 0; i < all.size(); ++i) {
        try {
            all.copy_input(i, x);
        } catch (cn::file_error const& e) {
            ++failed;
            CHECK(e.file_name == broken);
        }
    }
    CHECK(failed == 1);
    small const whole{made.root.path, {.broken = broken_files::skip}};
    CHECK(whole.size() == 12);
    REQUIRE(whole.broken().size() == 1);
    CHECK(whole.broken()[0].file == broken);
    CHECK(whole.broken()[0].why.find("cannot decode the JPEG") != std::string::npos);
}

TEST_CASE("a network is trained from a folder, read ahead and augmented") {
    two_classes const made{20};
    using net =
        cn::sequential<cn::input<3, 8, 8>, cn::flatten, cn::dense<8>, cn::relu, cn::dense<2>>;
    auto const [some, rest] = cn::data::stratified_split(small{made.root.path}, 0.8);
    CHECK(some.size() == 32);
    cn::model<net, cn::policy::cpu, cn::batch<8>> model{cn::seed{3}};
    auto training =
        cn::compile(model, cn::cross_entropy, cn::adam{.learning_rate = 0.01}, cn::accuracy);
    auto const augmented =
        cn::data::augment(some, cn::data::random_flip{}, cn::data::random_affine{.rotation = 10});
    auto const history =
        training.fit(cn::data::prefetch(augmented, {.workers = 2}),
                     {.epochs = 8, .validation = rest, .verbose = cn::verbosity::silent});
    CHECK(history["val_accuracy"].back() == 1);
}

TEST_CASE("random parts are cut out of the image, and then resized; anew in every epoch") {
    two_classes const made;
    small const images{made.root.path, {.crop = cn::data::random_resized_crop{}, .scale = 1}};
    auto const sample = [&](std::uint64_t seed, std::uint64_t epoch, size_t number) {
        images.begin_epoch({.seed = seed, .number = epoch});
        std::vector<float> x(3 * 8 * 8);
        images.copy_input(number, x.data());
        return x;
    };
    auto const first = sample(1, 0, 3);
    CHECK(sample(1, 1, 3) != first);
    CHECK(sample(2, 0, 3) != first);
    CHECK(sample(1, 0, 3) == first);

    // As the draw says, whichever part that is.
    auto const whole = cn::image::read(images.file(3));
    bool found = false;
    for (size_t y = 0; y < whole.height && !found; ++y) {
        for (size_t x = 0; x < whole.width && !found; ++x) {
            for (size_t h = 1; y + h <= whole.height && !found; ++h) {
                for (size_t w = 1; x + w <= whole.width && !found; ++w) {
                    auto const part =
                        cn::image::resize(cn::image::cropped(whole, {x, y, w, h}), 8, 8);
                    found = true;
                    for (size_t i = 0; i < 192 && found; ++i) {
                        found = first[i % 3 * 64 + i / 3] == float(part.pixels[i]);
                    }
                }
            }
        }
    }
    CHECK(found);
}

TEST_CASE("files of a folder are decoded as drafts where that is asked for") {
    castnet::testing::temporary_directory const root;
    auto const image = some_bitmap(50, 40, 3);
    std::vector<std::string> const files{root.path + "/a.jpg", root.path + "/a.png"};
    for (std::string const& file : files) {
        cn::image::write(file, image);
    }
    small const as_they_are{files, {0, 1}}, drafts{files, {0, 1}, {.drafts = true}};
    auto const pixels = [](small const& images, size_t i) {
        std::vector<float> x(3 * 8 * 8);
        images.copy_input(i, x.data());
        return x;
    };
    CHECK(pixels(as_they_are, 1) == pixels(drafts, 1)); // no JPEG
    auto const quarter = cn::image::read(files[0], 3, {8, 8});
    CHECK(quarter.width == 13);
    auto const expected = cn::image::resize(quarter, 8, 8);
    CHECK(pixels(drafts, 0)[0] == doctest::Approx(expected.pixels[0] / 255.0));
    CHECK(pixels(drafts, 0) != pixels(as_they_are, 0));
}
