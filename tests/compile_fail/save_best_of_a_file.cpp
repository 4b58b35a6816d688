// The best parameters of which model?
// expect: castnet: save_best is told the model and the file to save it in: cn::save_best\{model, "best.safetensors"\}
#include <castnet/castnet.hpp>

castnet::save_best keeps_best{"best.safetensors"};
