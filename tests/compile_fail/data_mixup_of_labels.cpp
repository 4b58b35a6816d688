// expect: castnet: mixup and cutmix mix targets, and class numbers cannot be mixed: put data::one_hot
// expect: targets_to_mix<.*label<3
// expect: castnet: mixup mixes all inputs, and ids cannot be mixed
// expect: input_to_mix<1[UL]*, .*ids<10
#include <castnet/data.hpp>

using namespace castnet;

auto mixed(data::dataset<data::label<3>, shape<1, 2, 2>> images) {
    return data::mixup(images);
}
auto mixed_ids(data::dataset<shape<1>, shape<2>, ids<10, 4>> words) {
    return data::mixup(words);
}
