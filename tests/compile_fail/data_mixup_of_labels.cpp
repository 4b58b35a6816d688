// expect: castnet: mixup and cutmix mix targets, and class numbers cannot be mixed: put data::one_hot
// expect: targets_to_mix<.*label<3
#include <castnet/data.hpp>

using namespace castnet;

auto mixed(data::dataset<data::label<3>, shape<1, 2, 2>> images) {
    return data::mixup(images);
}
