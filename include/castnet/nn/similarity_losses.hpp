// Losses of embeddings: how near vectors are to each other.
#pragma once

#include <castnet/core/hyperparameters.hpp>
#include <castnet/data/targets.hpp>
#include <castnet/graph/op/reduce.hpp>
#include <castnet/graph/op/source.hpp>
#include <castnet/nn/loss.hpp>

#include <array>

namespace castnet {

namespace detail {

// The Euclidean norm of a - b + 1e-6, which has a gradient where both are equal (PyTorch's
// PairwiseDistance).
template <size_t N>
constexpr auto pairwise_distance(symbol<shape<N>> a, symbol<shape<N>> b) {
    return sqrt(sum(square(a - b + 1e-6)));
}

// The cosine of the angle between a and b, where above_zero() keeps the squares of their lengths
// above 0.
template <size_t N, class F>
constexpr auto cosine_of_angle(symbol<shape<N>> a, symbol<shape<N>> b, F above_zero) {
    auto const reciprocal = [&](auto x) { return rsqrt(above_zero(sum(square(x)))); };
    return sum(a * b) * reciprocal(a) * reciprocal(b);
}

} // namespace detail

// Minus the cosine of the angle between prediction and target: -1 where they point in the same
// direction, 1 in the opposite one (Keras' losses.CosineSimilarity). Squares of lengths count as at
// least 1e-12.
struct cosine_similarity_loss {
    static constexpr char const* name = "cosine_similarity";
    static constexpr bool labels = false;
    template <size_t N>
    constexpr auto operator()(symbol<shape<N>> prediction, symbol<shape<N>> target) const {
        return -detail::cosine_of_angle(prediction, target,
                                        [](auto x) { return maximum(x, 1e-12); });
    }
};
inline constexpr cosine_similarity_loss cosine_similarity{};

// 1 - c where the target is 1, for two outputs of a network that should point in the same
// direction, and max(0, c - margin) where it is 0 or -1, for others; c is the cosine of the angle
// between them (PyTorch's CosineEmbeddingLoss). 1e-12 is added to squares of lengths.
struct cosine_embedding_loss {
    static constexpr char const* name = "cosine_embedding";
    static constexpr bool labels = false;
    using target_shape = shape<1>;
    scalar margin = 0;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"margin", margin.value}});
    }

    template <size_t N>
    constexpr auto operator()(symbol<shape<N>> a, symbol<shape<N>> b,
                              symbol<shape<1>> alike) const {
        auto const cosine = detail::cosine_of_angle(a, b, [](auto x) { return x + 1e-12; });
        return where(greater(sum(alike), 0), 1 - cosine, relu(cosine - margin));
    }
};
inline constexpr cosine_embedding_loss cosine_embedding{};

// max(0, d(anchor, positive) - d(anchor, negative) + margin) of the three outputs of a network, for
// d as in PyTorch's PairwiseDistance (PyTorch's TripletMarginLoss), without a target.
struct triplet_margin_loss {
    static constexpr char const* name = "triplet_margin";
    using targets = data::targets<>;
    scalar margin = 1;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"margin", margin.value}});
    }

    template <size_t N>
    constexpr auto operator()(symbol<shape<N>> anchor, symbol<shape<N>> positive,
                              symbol<shape<N>> negative) const {
        return relu(detail::pairwise_distance(anchor, positive) -
                    detail::pairwise_distance(anchor, negative) + margin);
    }
};
inline constexpr triplet_margin_loss triplet_margin{};

// d^2 where the target is 1, for two outputs of a network that should be near to each other, and
// max(0, margin - d)^2 where it is 0, for others; d is PyTorch's PairwiseDistance of the outputs
// (Hadsell et al. 2006, without their factor 1/2; TensorFlow Addons' ContrastiveLoss).
struct contrastive_loss {
    static constexpr char const* name = "contrastive";
    static constexpr bool labels = false;
    using target_shape = shape<1>;
    scalar margin = 1;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"margin", margin.value}});
    }

    template <size_t N>
    constexpr auto operator()(symbol<shape<N>> a, symbol<shape<N>> b,
                              symbol<shape<1>> alike) const {
        auto const distance = detail::pairwise_distance(a, b);
        return sum(alike) * square(distance) + (1 - sum(alike)) * square(relu(margin - distance));
    }
};
inline constexpr contrastive_loss contrastive{};

} // namespace castnet
