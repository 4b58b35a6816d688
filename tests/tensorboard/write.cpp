// Writes an event file that read.py reads with TensorBoard: write FOLDER
#include <castnet/castnet.hpp>
#include <castnet/train/tensorboard.hpp>

#include <limits>

namespace cn = castnet;

using net = cn::sequential<cn::input<2>, cn::dense<4>, cn::relu, cn::dense<3>>;

int main(int, char** arguments) {
    cn::io::event_file file{arguments[1]};
    for (int step = 0; step < 5; ++step) {
        file.add_scalar("loss", static_cast<std::uint64_t>(step), 1.0 / (1 + step));
    }
    std::vector<double> const values{1, 2, 2, 3, std::numeric_limits<double>::infinity()};
    file.add_histogram("values", 300, std::span{values});
    file.add_text("note", 1, "**bold** \xC3\xBC");
    unsigned char const encoded[] = {0x89, 'P', 'N', 'G', 0, 0xff};
    file.add_image("picture", 2, 5, 7, encoded);
    cn::model<net, cn::policy::cpu, cn::batch<4>> model;
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{.learning_rate = 0.25});
    training.step(cn::data::blobs<3, 2>(4, 1));
    cn::add_histograms(file, model, 7);
    cn::add_gradient_histograms(file, training, 8);
    cn::add_graph(file, model);
    cn::add_hyperparameters(file, training);
}
