// Fingerprint of a training step as it was traced, which tells networks, losses and metrics apart.
#pragma once

#include <castnet/core/digest.hpp>
#include <castnet/graph/operations.hpp>
#include <castnet/graph/traced.hpp>

#include <bit>
#include <cstdint>

namespace castnet::ir {

// Digests up to the end of each, one going on from the other: the first that differs is of what
// does. Devices do not matter, nor how parameters start.
struct fingerprint {
    std::uint64_t network = 0, loss = 0, metrics = 0; // 0: there is none
};

constexpr void take_bits(detail::digest& d, int low, int high) {
    d.take(std::uint64_t{static_cast<std::uint32_t>(high)} << 32 | static_cast<std::uint32_t>(low));
}

constexpr void take_parameter(detail::digest& d, parameter const& p) {
    d.take(p.name.digest());
    d.take(p.trainable);
    take_bits(d, std::bit_cast<int>(p.cost.l1), std::bit_cast<int>(p.cost.l2));
    for (int extent : p.shape) {
        take_bits(d, extent, static_cast<int>(p.shape.order));
    }
}

constexpr void take_window(detail::digest& d, window const& w) {
    take_bits(d, w.channels, w.filters);
    take_bits(d, w.height, w.width);
    take_bits(d, w.out_height, w.out_width);
    take_bits(d, w.kernel_h, w.kernel_w);
    take_bits(d, w.stride_h, w.stride_w);
    take_bits(d, w.pad_top, w.pad_left);
    take_bits(d, w.pad_bottom, w.pad_right);
    take_bits(d, w.dilation_h, w.dilation_w);
    d.take(static_cast<std::uint64_t>(w.groups));
    take_bits(d, w.count_padding | w.adaptive << 1 | w.bilinear << 2, w.images - 1);
}

constexpr void take_node(detail::digest& d, node const& n, graph_view const& g) {
    take_bits(d, int(n.kind) | int(n.function) << 8 | int(n.reduce) << 16 | n.operands << 24,
              n.derivative);
    take_bits(d, n.size.pixels, n.size.channels);
    take_bits(d, n.size.sample | int(n.size.order) << 1, n.attribute);
    d.take(static_cast<std::uint64_t>(n.loop));
    d.take(std::bit_cast<std::uint64_t>(n.scalar));
    for (int i = 0; i < n.operands; ++i) {
        d.take(static_cast<std::uint64_t>(n.in[i]));
    }
    if (traits_of(n).windowed) {
        take_window(d, g.windows[n.attribute]);
    }
}

// Of a graph without repeated blocks that nothing was appended to since the trace: the nodes of the
// network, then those of the loss from the first target on, or without any from the weight on,
// whose sum is the first output, then those of the metrics.
constexpr fingerprint fingerprint_of(graph_view const& g) {
    detail::digest d;
    for (int i = 0; i < g.parameter_count; ++i) {
        take_parameter(d, g.parameters[i]);
    }
    for (int i = 0; i < g.update_count; ++i) {
        take_bits(d, g.updates[i].parameter, g.updates[i].value);
    }
    fingerprint of;
    int next = 0;
    auto const begins_loss = [](node const& n) {
        return n.kind == op::target || n.kind == op::sample_weight;
    };
    for (; next < g.node_count && !begins_loss(g.nodes[next]); ++next) {
        take_node(d, g.nodes[next], g);
    }
    of.network = d.value();
    for (; next <= g.outputs[0]; ++next) {
        take_node(d, g.nodes[next], g);
    }
    of.loss = d.value();
    for (; next < g.node_count; ++next) {
        take_node(d, g.nodes[next], g);
    }
    of.metrics = d.value();
    return of;
}

// Nodes of a graph whose repeated blocks are written out.
constexpr int nodes_written_out(graph_view const& g) {
    int count = 0;
    for (int i = 0; i < g.node_count; ++i) {
        count += g.nodes[i].repeat < 0 ? 1 : g.repeat_at(g.nodes[i].repeat).count;
    }
    return count;
}

// So many are traced within clang's budget of steps.
inline constexpr int most_written_out = 3000;

} // namespace castnet::ir
