// A program in a project that builds with more warnings than castnet does: none comes from its
// headers.
#include <castnet/castnet.hpp>
#include <castnet/policy/mirrored.hpp>
#include <castnet/policy/model_parallel.hpp>
#include <castnet/zoo/vgg.hpp>

namespace cn = castnet;

namespace {

using images =
    cn::sequential<cn::input<1, 16, 16>, cn::conv2d<32, 3>, cn::relu, cn::batch_norm,
                   cn::max_pool2d<2>,
                   cn::residual<cn::conv2d<32, 3, cn::conv{.padding = cn::same}>, cn::relu>,
                   cn::flatten, cn::dropout<0.2F>, cn::dense<10>>;
using small = cn::sequential<cn::input<4>, cn::shared<"hidden", cn::dense<4>>, cn::dense<2>>;
using synthetic = cn::data::dataset<cn::data::label<10>, cn::shape<1, 16, 16>>;

template <class Network, class Policy, class Optimizer>
void train(synthetic const& data) {
    cn::model<Network, Policy, cn::batch<8>> model{cn::seed{42}};
    auto training = cn::compile(model, cn::cross_entropy, Optimizer{}, cn::accuracy, cn::top_k<2>);
    auto const [first, last] = data.split(0.5);
    training.fit(first, {.epochs = 5,
                         .schedule = cn::one_cycle(4e-3),
                         .validation = last,
                         .checkpoint = cn::checkpoint(training, "checkpoint")});
    cn::save(model, "weights.safetensors");
    cn::load(training, "checkpoint");
    cn::summary(model);
    cn::memory_report(training);
    model.predict(last);
}

} // namespace

int main() {
    synthetic const data{std::vector<float>(160 * 256), std::vector<int>(160)};
    train<images, cn::policy::cpu, cn::rmsprop_momentum>(data);
    train<images, cn::policy::mirrored<cn::policy::cpu, 2>, cn::adam>(data);

    cn::model<small, cn::policy::basic_cpu<double>, cn::batch<1>> tiny;
    auto training = cn::compile(tiny, cn::cross_entropy, cn::adadelta{});
    training.fit(cn::data::blobs<2, 4>(16, 1));
}
