// CIFAR-10 and CIFAR-100 (Krizhevsky, 2009): 50,000 training images and 10,000 test images of
// 32 x 32 pixels in colour, in their binary version. https://www.cs.toronto.edu/~kriz/cifar.html
#pragma once

#include <castnet/data/dataset.hpp>
#include <castnet/io/compressed.hpp>

namespace castnet::data {

template <size_t Classes>
using cifar_dataset = dataset<label<Classes>, shape<3, 32, 32>>; // bytes scaled to [0, 1]

template <size_t Classes>
struct cifar_sets {
    cifar_dataset<Classes> train, test;
};

namespace detail::inline CASTNET_GZIP_SUPPORT {

// Records of `labels` bytes, of which the last one counts, and the bytes of an image.
template <size_t Classes>
[[gnu::noinline]] cifar_dataset<Classes> cifar_part(std::vector<std::string> const& files,
                                                    size_t labels) {
    constexpr size_t pixels = shape<3, 32, 32>::count;
    size_t const record = labels + pixels;
    std::vector<unsigned char> images, classes;
    for (std::string const& path : files) {
        constexpr size_t most = 50000; // records
        auto const content = io::read_compressed(
            path, [&](io::source& in) { return in.read_up_to(most * record + 1); });
        if (content.empty() || content.size() % record != 0) {
            throw file_error(path, {"found ", content.size(), " bytes, expected records of ",
                                    record, ", a label and an image each"});
        }
        for (size_t at = 0; at < content.size(); at += record) {
            unsigned char const label = content[at + labels - 1];
            if (label >= Classes) {
                throw file_error(path, {"byte ", at + labels - 1, ": found the label ", label,
                                        ", expected 0 to ", Classes - 1});
            }
            classes.push_back(label);
            auto const first = content.begin() + std::ptrdiff_t(at + labels);
            images.insert(images.end(), first, first + std::ptrdiff_t(pixels));
        }
    }
    return cifar_dataset<Classes>{column{std::move(images), 1.0 / 255}, std::move(classes)};
}

} // namespace detail::inline CASTNET_GZIP_SUPPORT

inline namespace CASTNET_GZIP_SUPPORT {

// Reads data_batch_1.bin to data_batch_5.bin and test_batch.bin from the directory, plain or (with
// castnet::zlib) with .gz. Throws file_error if one is missing or damaged.
inline cifar_sets<10> cifar10(std::string const& directory) {
    std::vector<std::string> batches;
    for (int number = 1; number <= 5; ++number) {
        batches.push_back(string_of({directory, "/data_batch_", number, ".bin"}));
    }
    return {detail::cifar_part<10>(batches, 1),
            detail::cifar_part<10>({directory + "/test_batch.bin"}, 1)};
}

// Reads train.bin and test.bin, with the 100 fine classes.
inline cifar_sets<100> cifar100(std::string const& directory) {
    return {detail::cifar_part<100>({directory + "/train.bin"}, 2),
            detail::cifar_part<100>({directory + "/test.bin"}, 2)};
}

} // namespace CASTNET_GZIP_SUPPORT
} // namespace castnet::data
