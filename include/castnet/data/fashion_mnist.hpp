// Fashion-MNIST (Xiao et al., 2017, arXiv:1708.07747) and MNIST (LeCun et al., 1998): 60,000
// training images and 10,000 test images of 28 x 28 grey values, in ten classes.
#pragma once

#include <castnet/core/target.hpp>
#include <castnet/core/text.hpp>
#include <castnet/data/dataset.hpp>
#include <castnet/io/idx.hpp>

namespace castnet::data {

using mnist_dataset = dataset<label<10>, shape<1, 28, 28>>; // grey values scaled to [0, 1]

struct mnist_sets {
    mnist_dataset train, test;
};

inline namespace CASTNET_GZIP_SUPPORT {

// Reads train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
// t10k-labels-idx1-ubyte from the directory, plain or (with castnet::zlib) with .gz. Throws
// file_error, which names file and byte, if one is missing, damaged or of the wrong kind.
mnist_sets mnist(std::string const& directory);

// The same for Fashion-MNIST; by default from the directory of its Debian package.
mnist_sets fashion_mnist(std::string const& directory = "/usr/share/datasets/fashion-mnist");

} // namespace CASTNET_GZIP_SUPPORT

#ifndef __CUDA_ARCH__ // the host's work, which nvcc would read once more for the GPU

namespace detail::inline CASTNET_GZIP_SUPPORT {

[[gnu::noinline]] inline io::idx_array mnist_array(std::string const& path, size_t rank) {
    auto array = io::read_idx(path);
    auto const found = array.extents.size();
    auto const kind = [](size_t r) {
        return r == 1 ? "labels" : r == 3 ? "images" : "neither images nor labels";
    };
    if (found != rank) {
        throw file_error(path, {"byte 3: found ", quantity(found, "axis", "axes"), ", expected ",
                                rank, ": the file holds ", kind(found), " where ", kind(rank),
                                " were expected"});
    }
    if (array.type != io::dtype::u8) {
        throw file_error(path, {"byte 2: found ", kind(rank), " of type ", io::name_of(array.type),
                                ", expected U8, bytes"});
    }
    if (rank == 3 && (array.extents[1] != 28 || array.extents[2] != 28)) {
        throw file_error(path, {"byte 8: found images of ", array.extents[1], " x ",
                                array.extents[2], ", expected 28 x 28"});
    }
    return array;
}

// The path of this file, plain or with .gz appended.
[[gnu::noinline]] inline std::string mnist_file(std::string const& directory,
                                                std::string const& part, char const* kind) {
    auto const path = io::plain_or_gz(string_of({directory, '/', part, kind}));
    if (!io::exists(path)) {
        throw file_error(path, "found neither this file nor it with .gz: for Fashion-MNIST "
                               "install the Debian package dataset-fashion-mnist, or pass the "
                               "directory that holds the four files");
    }
    return path;
}

[[gnu::noinline]] inline mnist_dataset mnist_part(std::string const& directory,
                                                  std::string const& part) {
    auto const images_path = mnist_file(directory, part, "-images-idx3-ubyte");
    auto const labels_path = mnist_file(directory, part, "-labels-idx1-ubyte");
    auto images = mnist_array(images_path, 3);
    auto labels = mnist_array(labels_path, 1);
    if (images.extents[0] != labels.extents[0]) {
        throw file_error(labels_path, {"byte 4: found ", quantity(labels.extents[0], "label"),
                                       ", expected one for each of the ", images.extents[0],
                                       " images in ", images_path});
    }
    for (size_t i = 0; i < labels.data.size(); ++i) {
        if (labels.data[i] > 9) {
            throw file_error(labels_path, {"byte ", 8 + i, ": found the label ", labels.data[i],
                                           ", expected 0 to 9"});
        }
    }
    return mnist_dataset{column{std::move(images.data), 1.0 / 255}, std::move(labels.data)};
}

} // namespace detail::inline CASTNET_GZIP_SUPPORT

inline namespace CASTNET_GZIP_SUPPORT {

inline mnist_sets mnist(std::string const& directory) {
    return {detail::mnist_part(directory, "train"), detail::mnist_part(directory, "t10k")};
}

inline mnist_sets fashion_mnist(std::string const& directory) {
    return mnist(directory);
}

} // namespace CASTNET_GZIP_SUPPORT

#endif

} // namespace castnet::data
