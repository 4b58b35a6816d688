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
            shape.size() == 4   ? memory::format_tag::nchw
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
    static constexpr auto kind = algorithm::convolution_direct;
    static inline memory::dims const stride{1, 1};
    memory::dims padding{0, 0};

    forward::desc output(layout const& x, layout const& w, layout const& b, layout const& y) const {
        return {dnnl::prop_kind::forward_training, kind, x, w, b, y, stride, padding, padding};
    }
    backward_data::desc data(layout const& dx, layout const& w, layout const& dy) const {
        return {kind, dx, w, dy, stride, padding, padding};
    }
    backward_weights::desc weights(layout const& x, layout const& dw, layout const& db,
                                   layout const& dy) const {
        return {kind, x, dw, db, dy, stride, padding, padding};
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
