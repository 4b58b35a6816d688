// Local response normalisation, local_response_norm<Size> (Krizhevsky et al. 2012; PyTorch's
// LocalResponseNorm): each element divided by (k + alpha * m)^beta, where m is the mean of the
// squares of the Size channels around its own, of which those outside count as 0.
#pragma once

#include <castnet/core/hyperparameters.hpp>
#include <castnet/nn/along_axis.hpp>

namespace castnet {

// Of vectors, sequences, images and volumes. An even Size has one channel more before than after.
// (TensorFlow's depth_radius is (Size - 1) / 2, its alpha PyTorch's / Size.)
template <size_t Size>
struct local_response_norm_layer {
    static constexpr char const* name = "local_response_norm";
    static_assert(Size > 0, "castnet: local_response_norm takes at least one channel");
    static constexpr size_t size = Size > 0 ? Size : 1; // one mistake is one error

    double alpha = 1e-4;
    double beta = 0.75;
    double k = 1;

    constexpr local_response_norm_layer with_alpha(double value) const { return {value, beta, k}; }
    constexpr local_response_norm_layer with_beta(double value) const { return {alpha, value, k}; }
    constexpr local_response_norm_layer with_k(double value) const { return {alpha, beta, value}; }

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> x) const {
        for (double const number : {alpha, beta, k}) {
            x.g->expect(detail::is_finite_not_negative(number), mistake::epsilon_of_norm);
        }
        return x / pow(k + alpha / double(size) * sum_around(square(x)), beta);
    }

private:
    template <Shape S>
    static constexpr symbol<S> sum_around(symbol<S> x) {
        constexpr size_t axis = detail::channel_axis<S>, before = size / 2,
                         after = size - 1 - before;
        auto const padded = pad<axis, before, after>(x);
        auto sum = detail::on_rows<op::slice, axis, S>(padded, 0);
        for (size_t i = 1; i < size; ++i) {
            sum = sum + detail::on_rows<op::slice, axis, S>(padded, i);
        }
        return sum;
    }
};

template <size_t Size>
inline constexpr local_response_norm_layer<Size> local_response_norm{};

} // namespace castnet
