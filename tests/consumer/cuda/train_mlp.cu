// What a user's first program on a GPU does; without a GPU it says so and ends well.
#include <castnet/castnet.hpp>
#include <castnet/cuda.hpp>
#ifdef SEVERAL_GPUS
#include <castnet/nccl.hpp>
#include <castnet/policy/mirrored.hpp>
#endif

#include <cstdio>
#include <vector>

namespace cn = castnet;

#ifdef SEVERAL_GPUS
using where = cn::policy::mirrored<cn::policy::cuda>;
#else
using where = cn::policy::cuda;
#endif
using mlp = cn::sequential<cn::input<2>, cn::dense<16>, cn::relu, cn::dense<2>>;

int main() {
    std::vector<float> points;
    std::vector<int> labels;
    for (int i = 0; i < 256; ++i) {
        float const x = float(i % 16) - 7.5F, y = float(i / 16) - 7.5F;
        points.insert(points.end(), {x / 8, y / 8});
        labels.push_back(x * y > 0 ? 1 : 0);
    }
    cn::data::dataset<cn::data::label<2>, cn::shape<2>> const data{points, labels};
    try {
        cn::model<mlp, where, cn::batch<32>> model{cn::seed{42}};
        auto training =
            cn::compile(model, cn::cross_entropy, cn::adam{.learning_rate = 0.02F}, cn::accuracy);
        double const accuracy = training.fit(data, {.epochs = 60})["accuracy"].back();
        std::printf("accuracy %.3f\n", accuracy);
        return accuracy > 0.95 ? 0 : 1;
    } catch (cn::error const& e) {
        std::puts(e.what());
        return cn::cuda::device_count() > 0;
    }
}
