// What golden.py wrote; see there.
#pragma once

#include <cstdint>

namespace zoo_golden {

// Number of tensors, and the hash of their names and shapes.
struct network {
    char const* name;
    int tensors;
    std::uint64_t digest;
};
inline constexpr network networks[] = {
    {"resnet18", 102, 0xeff72a609153c9ca},
    {"resnet50", 267, 0x7ed64358f1dc6581},
    {"vgg19", 38, 0xbb42992c17d33f8e},
    {"mobilenet_v2", 262, 0x020bb0434031c877},
    {"efficientnet_b0", 311, 0xed34cc810c72e5a6},
    {"densenet121", 606, 0x66a467c127b6acef},
    {"inception_v3", 472, 0x40340cdc17a51edd},
    {"xception", 236, 0x66370792c90a5bf9},
    {"mixer_b16", 150, 0x93bdd04037868c84},
    {"unet", 100, 0x5b04caf76318a45f},
    {"autoencoder", 14, 0xf08d786cbbf0e475},
};

// Sums of output, gradient by the input, gradients by the parameters, statistics.
struct small {
    char const* name;
    double sums[4];
};
inline constexpr small small_networks[] = {
    {"resnet_basic",
     {1.4489533017174365, 0.79169018578321593, 68.166792195498843, -13.953534569691927}},
    {"resnet_bottleneck",
     {-0.94850423759391589, -12.272245481063166, -36.336440239128272, -8.0699942864786642}},
    {"mobilenet_v2",
     {0.45899057777869068, 0.38821959716043958, -17.14727679371185, -44.193332726938202}},
    {"efficientnet",
     {-0.0075272516897442743, -1.5356662569343691, -5.2139351521140318, 3.2566711234899057}},
    {"densenet", {0.72845212832565998, 10.824017107256324, 73.620003574679501, 2.4477227998978281}},
    {"inception_v3",
     {0.31307467961007368, -120.85041747494034, 1107.3431216909812, -4.9469526662719545}},
    {"xception", {0.6202133830853036, 6.7192951061676736, -0.4457348557599301, 29.816166762426047}},
    {"mixer", {-0.88228184523399278, 0.52240579976411028, -0.7029434993189807, 0}},
    {"unet", {7.9177416185131086, 368.62136086505859, 268.73554333519417, 8.8837824195253834}},
    {"autoencoder", {-3.1155715261716423, 49.285589561037014, 2250.8477986719013, 0}},
};

} // namespace zoo_golden
