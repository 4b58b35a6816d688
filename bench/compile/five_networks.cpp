// Five training steps in one program: no network costs more because of the others.
#include <castnet/castnet.hpp>

namespace cn = castnet;

using vectors = cn::data::dataset<cn::data::label<10>, cn::shape<64>>;
using images = cn::data::dataset<cn::data::label<10>, cn::shape<1, 28, 28>>;

template <class Network, class Data>
double train(std::uint64_t seed, Data const& data) {
    cn::model<Network, cn::policy::cpu, cn::batch<32>> model{cn::seed{seed}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    training.fit(data);
    return training.evaluate(data).loss();
}

using linear = cn::sequential<cn::input<64>, cn::dense<10>>;
using mlp = cn::sequential<cn::input<64>, cn::dense<32>, cn::relu, cn::dense<10>>;
using deep = cn::sequential<cn::input<64>, cn::dense<48>, cn::tanh, cn::residual<cn::dense<48>>,
                            cn::relu, cn::dense<10>>;
using convnet = cn::sequential<cn::input<1, 28, 28>, cn::conv2d<8, 3>, cn::relu, cn::max_pool2d<2>,
                               cn::flatten, cn::dense<10>>;
using normed = cn::sequential<cn::input<1, 28, 28>, cn::conv2d<8, 5>, cn::batch_norm, cn::relu,
                              cn::global_avg_pool2d, cn::dropout<0.5F>, cn::dense<10>>;

double train_all(std::uint64_t seed, vectors const& a, images const& b) {
    return train<linear>(seed, a) + train<mlp>(seed, a) + train<deep>(seed, a) +
           train<convnet>(seed, b) + train<normed>(seed, b);
}
