// expect: castnet: images are cropped: the first input of the data set and the result need a shape
// expect: castnet: an image that is cropped keeps its channels
// expect: castnet: cutmix cuts images: the first input of the data set needs a shape of channels
#include <castnet/data.hpp>

using namespace castnet;

using vectors = data::dataset<shape<1>, shape<4>>;
using images = data::dataset<shape<1>, shape<3, 8, 8>>;

auto of_vectors(vectors v) {
    return data::random_crop<shape<2>>(v);
}
auto of_channels(images i) {
    return data::center_crop<shape<1, 4, 4>>(i);
}
auto of_numbers(vectors v) {
    return data::cutmix(v);
}
