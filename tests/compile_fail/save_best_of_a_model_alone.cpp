// A file is needed, too, though Keras' EarlyStopping(restore_best_weights) has none.
// expect: castnet: save_best is told the model and the file to save it in: cn::save_best\{model, "best.safetensors"\}
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
cn::save_best keeps_best{model};
