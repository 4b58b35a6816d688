// The best parameters are those of a model.
// expect: castnet: save_best keeps the parameters of a model: cn::save_best\{model, "best.safetensors"\}
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
cn::save_best keeps_best{training, "best.safetensors"};
