// k-means on images, with tensors alone: 4096 images of Fashion-MNIST in ten clusters. Distances
// come from one matrix product, new centres from another. (scikit-learn: KMeans(10).)
//
//   tensor_kmeans [FOLDER]
//
// FOLDER holds the files of Fashion-MNIST (Debian: dataset-fashion-mnist).
#include <castnet/castnet.hpp>

#include <cstdio>

namespace cn = castnet;

constexpr std::size_t images = 4096, pixels = std::size_t{28} * 28, clusters = 10;
template <std::size_t... D>
using floats = cn::tensor<float, cn::shape<D...>>;

// The squared distance of every image to every centre, but for the image's own square, which is the
// same for all centres.
floats<images, clusters> distances(floats<images, pixels> const& x,
                                   floats<clusters, pixels> const& centres) {
    return cn::sum<1>(centres * centres) - 2 * cn::matmul(x, cn::transpose(centres));
}

int main(int count, char** arguments) try {
    auto const folder = count > 1 ? arguments[1] : "/usr/share/datasets/fashion-mnist";
    auto const data = cn::data::fashion_mnist(folder).test;
    floats<images, pixels> x;
    cn::tensor<int, cn::shape<images>> labels;
    for (std::size_t i = 0; i < images; ++i) {
        data.copy_input(i, x[i].data());
        data.copy_target(i, &labels(i));
    }

    floats<clusters, pixels> centres;
    for (std::size_t k = 0; k < clusters; ++k) {
        centres[k] = x[k * (images / clusters)];
    }
    cn::tensor<std::size_t, cn::shape<images>> cluster;
    auto const numbers = cn::tensor<std::size_t, cn::shape<clusters>>::arange();
    double const squares = double(cn::sum(x * x));
    for (int round = 1; round <= 20; ++round) {
        auto const d = distances(x, centres);
        cluster = cn::argmin<1>(d);
        std::printf("round %2d: mean squared distance %.4f\n", round,
                    (squares + double(cn::sum(cn::min<1>(d)))) / double(images));

        // 1 where an image is in a cluster: (images, clusters)
        floats<images, clusters> member;
        member = cn::expand_dims<1>(cluster) == numbers;
        auto const sizes = cn::maximum(cn::sum<0>(member), 1);
        auto const sums = cn::matmul(cn::transpose(member), x);
        auto const each = cn::evaluate(sizes);
        centres = sums / cn::expand_dims<1>(each);
    }

    // How far clusters are kinds of clothes: the share of images of the most frequent kind in
    // theirs
    cn::tensor<int, cn::shape<clusters, 10>> table;
    for (std::size_t i = 0; i < images; ++i) {
        table(cluster(i), labels(i)) += 1;
    }
    std::printf("purity: %.3f\n", double(cn::sum(cn::max<1>(table))) / double(images));
} catch (cn::error const& wrong) { // a missing file, say
    std::fprintf(stderr, "%s\n", wrong.what());
    return 1;
}
