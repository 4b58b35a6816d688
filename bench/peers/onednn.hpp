// oneDNN's operations of dense layers and convolutions, and layouts of its memory.
#pragma once

#include "peer.hpp"

#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <string>

namespace bench::onednn {

using dnnl::algorithm;
using dnnl::memory;

[[maybe_unused]] inline bool const named = [] {
    dnnl_version_t const& v = *dnnl_version();
    return name_library("oneDNN " + std::to_string(v.major) + "." + std::to_string(v.minor) + "." +
                        std::to_string(v.patch));
}();

using layout = memory::desc;
inline layout any_layout(memory::dims const& shape) {
    return {shape, memory::data_type::f32, memory::format_tag::any};
}
inline layout plain(memory::dims const& shape) {
    return {shape, memory::data_type::f32,
            shape.size() == 5   ? memory::format_tag::ldigo
            : shape.size() == 4 ? memory::format_tag::nchw
            : shape.size() == 3 ? memory::format_tag::ntc
            : shape.size() == 2 ? memory::format_tag::nc
                                : memory::format_tag::x};
}

// Floats in memory, with the padding of its layout.
inline std::span<float> floats(memory const& m) {
    return {static_cast<float*>(m.get_data_handle()), m.get_desc().get_size() / sizeof(float)};
}

struct convolution {
    using forward = dnnl::convolution_forward;
    using backward_data = dnnl::convolution_backward_data;
    using backward_weights = dnnl::convolution_backward_weights;
    memory::dims padding{0, 0}, stride{1, 1};

    forward::desc output(layout const& x, layout const& w, layout const& b, layout const& y) const {
        return {dnnl::prop_kind::forward_training,
                best(x, y, false),
                x,
                w,
                b,
                y,
                stride,
                padding,
                padding};
    }
    backward_data::desc data(layout const& dx, layout const& w, layout const& dy) const {
        return {best(dx, dy, true), dx, w, dy, stride, padding, padding};
    }
    backward_weights::desc weights(layout const& x, layout const& dw, layout const& db,
                                   layout const& dy) const {
        return {best(x, dy, false), x, dw, db, dy, stride, padding, padding};
    }

    // The faster algorithm for the convolutions of operations.hpp, measured: Winograd's (which is
    // what oneDNN chooses by itself), but not for few channels, small images, or the gradient by an
    // image without padding.
    algorithm best(layout const& x, layout const& y, bool by_image) const {
        bool const direct = x.dims()[1] < 32 || y.dims()[3] < 8 || (by_image && padding[0] == 0);
        return direct ? algorithm::convolution_direct : algorithm::convolution_auto;
    }
};

struct inner_product {
    using forward = dnnl::inner_product_forward;
    using backward_data = dnnl::inner_product_backward_data;
    using backward_weights = dnnl::inner_product_backward_weights;

    forward::desc output(layout const& x, layout const& w, layout const& b, layout const& y) const {
        return {dnnl::prop_kind::forward_training, x, w, b, y};
    }
    backward_data::desc data(layout const& dx, layout const& w, layout const& dy) const {
        return {dx, w, dy};
    }
    backward_weights::desc weights(layout const& x, layout const& dw, layout const& db,
                                   layout const& dy) const {
        return {x, dw, db, dy};
    }
};

} // namespace bench::onednn
