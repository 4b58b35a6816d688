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

template <class T>
bool compute() {
    auto const x = cn::random_normal<T, cn::shape<30, 50>>(1);
    auto const square = cn::matmul(cn::transpose(x), x) + cn::tensor<T, cn::shape<50, 50>>::eye();
    auto const rows = cn::sum<1>(cn::exp(x)) + cn::mean<1>(x) * cn::prod<1>(x) - cn::max<1>(x);
    auto const all = cn::concatenate<0>(cn::pad<0, 2, 1>(x), cn::sort(x), cn::cumsum(x));
    auto const [q, r] = cn::qr(x);
    auto const [u, s, vt] = cn::svd(x);
    auto const [values, vectors] = cn::eigh(square);
    auto const blocks = cn::kron(cn::cumprod<0>(x), cn::corrcoef(cn::matmul(u * s, vt)));
    return cn::nanmax(blocks) > cn::nanmean(cn::matmul(q, r)) + cn::nansum(vectors * values) &&
           cn::lstsq(square, cn::nanmin<0>(x)).size() == 50 && cn::argmax(all) < all.size() &&
           cn::sum(cn::pow(rows, T(2))) >= 0 && cn::sum(cn::solve(square, cn::mean<0>(x))) > 0 &&
           cn::argsort(rows).size() == 30;
}

} // namespace

int main() {
    synthetic const data{std::vector<float>(160 * 256), std::vector<int>(160)};
    train<images, cn::policy::cpu, cn::rmsprop_momentum>(data);
    train<images, cn::policy::mirrored<cn::policy::cpu, 2>, cn::adam>(data);

    cn::model<small, cn::policy::basic_cpu<double>, cn::batch<1>> tiny;
    auto training = cn::compile(tiny, cn::cross_entropy, cn::adadelta{});
    training.fit(cn::data::blobs<2, 4>(16, 1));
    return compute<float>() && compute<double>() ? 0 : 1;
}
