// Writes a report that read.py reads: write FILE
#include <castnet/castnet.hpp>
#include <castnet/train/report.hpp>

#include <limits>

namespace cn = castnet;

namespace {

using net =
    cn::sequential<cn::input<3, 6, 5>, cn::conv2d<4, 3>, cn::relu, cn::flatten, cn::dense<3>>;

auto pictures() {
    std::vector<float> pixels;
    std::vector<int> labels;
    for (int i = 0; i < 24; ++i) {
        for (int k = 0; k < 90; ++k) {
            pixels.push_back(float((i * 37 + k * (i % 3 + 1) * 11) % 101) / 100);
        }
        labels.push_back(i % 3);
    }
    return cn::data::dataset<cn::data::label<3>, cn::shape<3, 6, 5>>{pixels, labels};
}

} // namespace

int main(int, char** arguments) {
    auto const data = pictures();
    cn::model<net, cn::policy::cpu, cn::batch<8>> model;
    auto training =
        cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy, cn::confusion_matrix<3>);
    auto const history =
        training.fit(data, {.epochs = 3, .validation = data, .verbose = cn::verbosity::silent});

    cn::report page{"Shirts & <others>"};
    page.add(history);
    page.add(cn::history{{"loss"}, {1, std::numeric_limits<double>::quiet_NaN(), 0.5}});
    page.add(cn::history{{"loss"}});
    page.add(training.evaluate(data).counts<"confusion_matrix">(), {"shirt", "\"bag\""});
    page.add_summary(model);
    page.add_memory(training);
    page.add(cn::profile(training, data, std::vector<std::size_t>{0, 1, 2, 3}, 1));
    page.add_worst(model, data, 5, {"shirt"});
    page.add_text("Notes", "a < b & \"c\"\x01");
    page.save(arguments[1]);
}
