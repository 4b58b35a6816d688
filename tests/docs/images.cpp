// The C++ of the guide's section on image files, and the spellings of its table.
#include <castnet/castnet.hpp>
#include <castnet/image.hpp>
#include <castnet/io/csv_table.hpp>
#include <castnet/io/event_file.hpp>
#include <castnet/io/npz.hpp>
#include <castnet/io/text_lines.hpp>

#include "../io/hostile.hpp"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>

namespace cn = castnet;
using namespace castnet;
using namespace castnet::data;

namespace {

// folder/{train,test}/{cat,dog}/<number>.png
struct pictures_of_pets {
    castnet::testing::temporary_directory folder;

    pictures_of_pets() {
        for (std::string const part : {"/train", "/test"}) {
            for (int i = 0; i < 24; ++i) {
                std::string const here = folder.path + part + (i % 2 == 0 ? "/cat" : "/dog");
                std::filesystem::create_directories(here);
                image::bitmap picture{20, 16, 3};
                for (std::size_t k = 0; k < picture.pixels.size(); ++k) {
                    picture.pixels[k] = static_cast<unsigned char>(
                        k * 7 % 60 + 180U * static_cast<unsigned>(i % 2));
                }
                image::write(here + '/' + std::to_string(i) + ".png", picture);
            }
        }
    }
};

using pet_network = cn::sequential<cn::input<3, 32, 32>, cn::avg_pool2d<4>, cn::batch_norm,
                                   cn::flatten, cn::dense<2>>;

} // namespace

TEST_CASE("guide: images that a network has made") {
    castnet::testing::temporary_directory const made;
    std::string const& folder = made.path;
    cn::model<cn::sequential<cn::input<4>, cn::dense<3 * 8 * 8>, cn::sigmoid, cn::reshape<3, 8, 8>>,
              cn::policy::cpu, cn::batch<8>>
        generator;
    std::vector<float> const noise(4 * 20, 0.5F);
    cn::io::event_file events{folder};
    std::uint64_t const epoch = 3;
    // [grid]
    std::vector<float> const samples = generator.predict(noise); // numbers from 0 to 1
    auto const picture = cn::image::grid<cn::shape<3, 8, 8>>(samples, {.columns = 5});
    cn::image::write(folder + "/samples.png", picture);
    events.add_image("samples", epoch, picture.width, picture.height,
                     cn::image::encode_png(picture)); // for TensorBoard
    // [/grid]
    CHECK(cn::image::read(folder + "/samples.png").pixels == picture.pixels);
}

TEST_CASE("guide: image files") {
    pictures_of_pets const made;
    std::string const& folder = made.folder.path;
    // [folder]
    using pictures = cn::image::folder<2, cn::shape<3, 32, 32>>;
    auto train = cn::data::augment(pictures{folder + "/train"}, cn::data::random_flip{},
                                   cn::data::random_affine{.rotation = 15, .zoom = 0.1});
    auto test = pictures{folder + "/test", {.frame = cn::image::framing::middle}};

    cn::model<pet_network, cn::policy::cpu, cn::batch<8>> model;
    auto training =
        cn::compile(model, cn::cross_entropy, cn::adam{.learning_rate = 0.01}, cn::accuracy);
    training.fit(
        cn::data::prefetch(train),
        {.epochs = 10, .validation = cn::data::prefetch(test), .verbose = cn::verbosity::silent});
    // [/folder]
    CHECK(training.evaluate(test)["accuracy"] > 0.9);
    std::string const flowers_file = folder + "/flowers.csv";
    std::ofstream{flowers_file} << "kind,length,width\nrose,1,2\n\"iris, blue\",3,NA\nrose,5,6\n";
    // [table]
    auto const table = cn::io::read_csv(flowers_file, {.missing_value = NAN}); // else an error
    auto const kinds = table.classes("kind"); // of texts: names, sorted, and a number for each row
    auto sizes = table.matrix({"length", "width"});
    auto const columns = cn::data::statistics_of_columns(sizes, 2);
    cn::data::standardize_columns(sizes, columns); // mean 0 and deviation 1; what is missing is 0
    cn::data::dataset<cn::data::label<2>, cn::shape<2>> flowers{sizes, kinds.labels};
    // [/table]
    CHECK(flowers.size() == 3);
    CHECK(sizes[0] == doctest::Approx(-2 / std::sqrt(8 / 3.0)));
    CHECK(sizes[3] == 0);
    CHECK(sizes[5] == 1);
    CHECK(kinds.names == std::vector<std::string>{"iris, blue", "rose"});

    // [parts]
    auto [most, some] = cn::data::stratified_split(pictures{folder + "/train"}, 0.8);
    auto [others, held_out] = cn::data::k_fold(pictures{folder + "/train"}, 5, 0);
    auto even = cn::data::balanced_sample(most); // as many of each class
    // [/parts]
    CHECK(most.size() == 19); // of 24
    CHECK(some.size() + most.size() == others.size() + held_out.size());
    CHECK(even.size() == most.size());
}

TEST_CASE("guide: class names with the model") {
    pictures_of_pets const made;
    std::string const file = made.folder / "pets.safetensors";
    cn::image::folder<2, cn::shape<3, 32, 32>> const pets{made.folder / "train"};
    cn::model<pet_network, cn::policy::cpu, cn::batch<8>> model;
    // [description]
    auto const channels = cn::data::statistics_of(pets); // mean and deviation of each, read once
    auto ready = cn::data::augment(pets, cn::data::standardize{channels});
    model.describe({.classes = pets.class_names(), .channels = channels});
    cn::save(model, file);

    cn::model<pet_network, cn::policy::cpu, cn::batch<1>> served;
    cn::load(served, file);
    cn::data::standardize const same{served.description().channels};
    std::string const& name = served.description().classes[1]; // "dog"
    // [/description]
    CHECK(ready.size() == 24);
    CHECK(name == "dog");
    CHECK(served.description() == model.description());
}

TEST_CASE("guide: lines of a text") {
    castnet::testing::temporary_directory const folder;
    std::string const file =
        folder.put("reviews", castnet::testing::bytes_of("1 a fine film\n0 no\n"));
    // [generated]
    auto const reviews = cn::io::read_lines(file); // "1 a fine film"; or file.gz
    auto letters = cn::data::generated<cn::data::label<2>, cn::shape<26>>(
        reviews.size(),
        [=](std::size_t i, auto counts) {
            std::ranges::fill(counts, 0);
            for (char const c : reviews[i]) {
                if (c >= 'a' && c <= 'z') {
                    counts[std::size_t(c - 'a')] += 1;
                }
            }
        },
        [=](std::size_t i, auto kind) { kind[0] = reviews[i].starts_with('1') ? 1 : 0; });
    // [/generated]
    float counts[26], kind = -1;
    letters.copy_input(0, counts);
    letters.copy_target(1, &kind);
    CHECK(counts['f' - 'a'] == 2);
    CHECK(kind == 0);
}

TEST_CASE("guide: a stream") {
    castnet::testing::temporary_directory const folder;
    std::string const file =
        folder.put("rows", castnet::testing::bytes_of("1 2 3\n4 5 6\n7 8 9\n"));
    constexpr std::size_t count = 3;
    // [stream]
    auto const rows = cn::data::stream<cn::shape<1>, cn::shape<2>>(
        count,
        [file] { // begins anew, in every epoch
            return [from = std::ifstream{file}](auto x, auto y) mutable {
                return bool(from >> x[0] >> x[1] >> y[0]);
            };
        },
        {.shuffle_buffer = 10'000});
    // [/stream]
    float y = 0;
    rows.copy_target(1, &y);
    CHECK(y == 6);
}

TEST_CASE("guide: the table of data") {
    pictures_of_pets const made;
    std::string const root = made.folder.path + "/train";
    using pictures = image::folder<2, shape<3, 32, 32>>;
    pictures const p{root};
    (void)pictures{root, {.classes = {"dog", "cat"}}};
    (void)image::folder<2, shape<3, 32, 32>>{root};
    auto const size = [](auto const& data) { return data.size(); };
    CHECK(size(binary(p)) == 24);
    CHECK(size(one_hot(p)) == 24);
    CHECK(size(prefetch(p, {.workers = 4})) == 24);
    CHECK(size(augment(p, random_flip{})) == 24);
    CHECK(size(augment(p, random_flip{.horizontal = 0, .vertical = 0.5})) == 24);
    CHECK(size(augment(p, random_affine{.rotation = 40, .fill = fill_mode::nearest})) == 24);
    CHECK(size(augment(p, random_affine{.width_shift = 0.2, .height_shift = 0.2})) == 24);
    CHECK(size(augment(p, random_affine{.shear = 0.2, .zoom = 0.2})) == 24);
    CHECK(size(augment(p, random_shift{.padding = 4})) == 24);
    CHECK(size(random_crop<shape<3, 24, 24>>(p)) == 24);
    CHECK(size(center_crop<shape<3, 24, 24>>(p)) == 24);
    (void)pictures{root, {.crop = random_resized_crop{}}};
    CHECK(size(augment(p, random_resized_crop{})) == 24);
    CHECK(size(mixup(one_hot(p), 0.2)) == 24);
    CHECK(size(cutmix(one_hot(p))) == 24);
    CHECK(size(augment(p, color_jitter{.brightness = 0.2, .contrast = 0.2})) == 24);
    CHECK(size(augment(p, cutout{.size = 8})) == 24);
    CHECK(size(augment(p, standardize{statistics_of(p)})) == 24);
    CHECK(size(augment(p, standardize{{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}})) == 24);
    CHECK(size(take(p, 10)) == 10);
    CHECK(size(skip(p, 10)) == 14);
    {
        std::vector<float> const weights(24, 1);
        CHECK(size(with_weights(p, weights)) == 24);
    }
    CHECK(labels_of(p).size() == 24);
    struct {
        std::vector<float> class_weight;
    } const balanced{.class_weight = balanced_class_weight(p)};
    CHECK(balanced.class_weight == std::vector<float>{1, 1});
    std::vector<double> const weights(24, 1);
    CHECK(size(epochs_of(p, 10 * 128)) == 10 * 128);
    CHECK(size(weighted_sample(p, weights, 1000)) == 1000);
    std::vector<int> const lengths(24, 1);
    CHECK(size(grouped_by_length(p, lengths, 128)) == 24);
    CHECK(size(cache(p)) == 24);
    CHECK(size(cache(p, {.bytes = true})) == 24);
    std::string const file = made.folder / "cache";
    CHECK(size(cache(p, {.file = file})) == 24);
    CHECK(size(filter(p, [](auto s) { return s.label() < 1; })) == 12);
    CHECK(size(data::repeat(p, 3)) == 72);
    auto const x = [](size_t i, auto out) { std::ranges::fill(out, float(i)); };
    auto const y = [](size_t i, auto out) { out[0] = float(i % 2); };
    CHECK(size(generated<label<2>, shape<2>>(100, x, y)) == 100);
    auto const open = [] { return [](auto, auto) { return true; }; };
    CHECK(size(stream<label<2>, shape<2>>(100, open, {.shuffle_buffer = 1000})) == 100);
    CHECK_THROWS_AS(io::read_lines(file + "2"), file_error);
    CHECK_THROWS_AS(io::read_npz("a.npz").at("x").as<float>(), file_error);
    auto const grey = [](auto in, auto out) { std::copy_n(in.begin(), out.size(), out.begin()); };
    CHECK(size(map<shape<1, 32, 32>>(p, grey)) == 24);
}
