// What is to be saved?
// expect: castnet: save_each is told what to save and in which files: cn::save_each\{model, "weights-\{epoch\}"\}
#include <castnet/castnet.hpp>

castnet::save_each keeps{"weights-{epoch}"};
