// What a user's first program does: train a small network on data of its own, here two classes of
// points in the plane, told apart by the sign of the product of their coordinates.
#include <castnet/castnet.hpp>

#include <cstdio>
#include <vector>

namespace cn = castnet;

using mlp = cn::sequential<cn::input<2>, cn::dense<16>, cn::relu, cn::dense<2>>;

static_assert(mlp::parameter_count == 82);
static_assert(CASTNET_VERSION_MAJOR == 0 && CASTNET_VERSION_MINOR == 1);

int main() {
    std::vector<float> points;
    std::vector<int> labels;
    for (int row = -8; row < 8; ++row) {
        for (int column = -8; column < 8; ++column) {
            float const x = (static_cast<float>(column) + 0.5F) / 8.0F;
            float const y = (static_cast<float>(row) + 0.5F) / 8.0F;
            points.insert(points.end(), {x, y});
            labels.push_back(x * y > 0.0F ? 1 : 0);
        }
    }
    cn::data::dataset<cn::data::label<2>, cn::shape<2>> const data{points, labels};

    cn::model<mlp, cn::policy::cpu, cn::batch<32>> model{cn::seed{42}};
    auto training =
        cn::compile(model, cn::cross_entropy, cn::adam{.learning_rate = 0.02F}, cn::accuracy);
    auto const history = training.fit(data, {.epochs = 60});

    double const accuracy = history["accuracy"].back();
    std::printf("accuracy %.3f\n", accuracy);
    return accuracy > 0.95 ? 0 : 1;
}
