// The places of a window that slides over an image, unfold2d<kernel, conv{…}> (PyTorch's Unfold).
#pragma once

#include <castnet/nn/along_axis.hpp>
#include <castnet/nn/conv2d.hpp>
#include <castnet/nn/pad2d.hpp>

#include <utility>

namespace castnet {

// (channels, height, width) becomes (channels * kernel height * kernel width, places): what the
// window sees is a column, its places are counted row by row. A convolution by a weight that is
// computed, such as a normalised one, (filters, channels, height, width), is
//     matmul(weight | reshape<filters, channels * 9>, x | unfold2d<3>) | reshape<filters, h, w>
// conv2d itself, whose weight is a parameter, is faster.
template <size2 Kernel, conv Options>
struct unfold2d_layer {
    static constexpr char const* name = "unfold2d";
    static constexpr bool slides = can_slide(Kernel, Options.stride, Options.dilation, 1);
    static_assert(slides && Options.groups == 1,
                  "castnet: unfold2d: kernel, stride and dilation are at least 1, and there are no "
                  "groups");

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        static_assert(is_image<S>, "castnet: unfold2d needs an image (channels, height, width); "
                                   "see is_image<input shape>");
        if constexpr (is_image<S> && slides) {
            return of_image(x);
        } else {
            return symbol<shape<1, 1>>{x.g, x.id};
        }
    }

private:
    template <size_t C, size_t H, size_t W>
    static constexpr auto of_image(symbol<shape<C, H, W>> x) {
        static_assert(!Options.padding.causal,
                      "castnet: unfold2d: causal padding is for sequences");
        constexpr ir::window w = make_window(int(C), int(H), int(W), 1, Kernel, Options.stride,
                                             Options.padding, Options.dilation, 1);
        constexpr bool fits = w.out_height > 0 && w.out_width > 0;
        static_assert(fits || kernel_within<kernel<Kernel.h, Kernel.w>, shape<C, H, W>>,
                      "castnet: unfold2d: the kernel is larger than its input (channels, height, "
                      "width); see kernel_within<kernel<height, width>, input shape>");
        if constexpr (fits) {
            constexpr size_t top = size_t(w.pad_top), left = size_t(w.pad_left);
            constexpr size_t bottom = beyond(size_t(w.out_height), Options.stride.h, Kernel.h,
                                             Options.dilation.h, top + H);
            constexpr size_t right = beyond(size_t(w.out_width), Options.stride.w, Kernel.w,
                                            Options.dilation.w, left + W);
            auto const padded = x | zero_pad2d<sides{top, bottom, left, right}>;
            return from_places<C, size_t(w.out_height), size_t(w.out_width)>(
                padded, std::make_index_sequence<Kernel.h * Kernel.w>{});
        } else {
            return symbol<shape<1, 1>>{x.g, x.id};
        }
    }
    // How far the last place reaches beyond the end.
    static constexpr size_t beyond(size_t places, size_t stride, size_t kernel, size_t dilation,
                                   size_t end) {
        size_t const last = (places - 1) * stride + (kernel - 1) * dilation + 1;
        return last > end ? last - end : 0;
    }
    template <size_t C, size_t Rows, size_t Columns, class S, size_t... I>
    static constexpr auto from_places(symbol<S> padded, std::index_sequence<I...>) {
        constexpr size_t down = Options.stride.h, across = Options.stride.w;
        auto const seen = [&]<size_t Place>(std::integral_constant<size_t, Place>) {
            constexpr size_t top = Place / Kernel.w * Options.dilation.h;
            constexpr size_t left = Place % Kernel.w * Options.dilation.w;
            auto const rows = slice<1, top, top + (Rows - 1) * down + 1, down>(padded);
            auto const some = slice<2, left, left + (Columns - 1) * across + 1, across>(rows);
            return reshaped(some, row_major_shape<C, 1, Rows * Columns>{});
        };
        auto const all = concatenate<1>(seen(std::integral_constant<size_t, I>{})...);
        return reshaped(all, shape<C * sizeof...(I), Rows * Columns>{});
    }
};

template <size2 Kernel, conv Options = conv{}>
inline constexpr unfold2d_layer<Kernel, Options> unfold2d{};

} // namespace castnet
