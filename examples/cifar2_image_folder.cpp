// Two classes of pictures from a folder of JPEG files: augmented by worker threads, trained with a
// multilayer perceptron, validated, scored, drawn and saved. (Keras: ImageDataGenerator,
// flow_from_directory, fit_generator.)
//
//   cifar2_image_folder [FOLDER [EPOCHS]]
//
// FOLDER holds train/<class>/*.jpg and test/<class>/*.jpg; where it is missing, it is made of two
// kinds of Fashion-MNIST's shoes.
#include <castnet/castnet.hpp>
#include <castnet/image.hpp>
#include <castnet/train/report.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace cn = castnet;

using network = cn::sequential<cn::input<3, 32, 32>, cn::flatten, cn::dense<256>, cn::relu,
                               cn::dense<128>, cn::relu, cn::dense<64>, cn::relu, cn::dense<1>>;
using pictures = cn::image::folder<2, cn::shape<3, 32, 32>>;

void write_pictures(cn::data::mnist_dataset const& data, std::string const& folder, int each) {
    constexpr int sandal = 5, sneaker = 7;
    int written[10] = {};
    for (std::size_t i = 0; i < data.size(); ++i) {
        int kind = 0;
        data.copy_target(i, &kind);
        if ((kind == sandal || kind == sneaker) && written[kind] < each) {
            float grey[28 * 28];
            data.copy_input(i, grey);
            cn::image::bitmap picture{28, 28, 1};
            std::transform(std::begin(grey), std::end(grey), picture.pixels.begin(), [](float g) {
                return static_cast<unsigned char>(std::lround(g * 255));
            });
            std::string const here = folder + (kind == sandal ? "/sandal/" : "/sneaker/");
            std::filesystem::create_directories(here);
            cn::image::write(here + std::to_string(written[kind]++) + ".jpg", picture);
        }
    }
}

int main(int count, char** arguments) try {
    std::string const folder = count > 1 ? arguments[1] : "two_shoes";
    int const epochs = count > 2 ? std::atoi(arguments[2]) : 10;
    if (!std::filesystem::exists(folder)) {
        auto const clothes = cn::data::fashion_mnist();
        write_pictures(clothes.train, folder + "/train", 1000);
        write_pictures(clothes.test, folder + "/test", 250);
    }

    auto const train = cn::data::prefetch(
        cn::data::augment(cn::data::binary(pictures{folder + "/train"}),
                          cn::data::random_affine{
                              .rotation = 10, .width_shift = 0.1, .height_shift = 0.1, .zoom = 0.1},
                          cn::data::random_flip{}));
    auto const test = cn::data::prefetch(cn::data::binary(pictures{folder + "/test"}));

    cn::model<network, cn::policy::cpu, cn::batch<50>> model{cn::seed{42}};
    auto training = cn::compile(model, cn::binary_cross_entropy, cn::rmsprop{.learning_rate = 1e-4},
                                cn::binary_accuracy, cn::auc);
    auto const history = training.fit(train, {.epochs = epochs, .validation = test});
    std::printf("waited %.2f s for data in the last epoch\n", train.seconds_waited());
    history.save_csv("history.csv");
    cn::report page{"Sandals and sneakers"};
    page.add(history); // its curves
    page.save("cifar2.html");
    cn::save(model, "cifar2.safetensors");
} catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
