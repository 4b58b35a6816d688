// Counts are asked for by the name of a metric's column.
// expect: castnet: scores::counts<name>\(\) is of a metric with counts
// expect: metric_has_counts<.*confusion
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dense<3>>;

int main() {
    cn::model<net, cn::policy::cpu, cn::batch<8>> model;
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    cn::data::dataset<cn::data::label<3>, cn::shape<4>> data{std::vector<float>(4),
                                                             std::vector<int>(1)};
    training.evaluate(data).counts<"confusion_matrix">();
}
