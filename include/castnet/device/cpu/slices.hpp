// Convolutions of volumes some slices at a time: the launch that unfolds these, and the next one,
// which finds them in the cache.
#pragma once

#include <castnet/device/cpu/context.hpp>
#include <castnet/device/cpu/tuning.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

constexpr bool is_same(array_ref const& a, array_ref const& b) {
    return a.where == b.where && a.offset == b.offset;
}

// How many slices launch i of a plan unfolds at once for the launch after it, which alone reads
// them, where all of them would not fit the cache; else 0.
template <class T, class Plan>
constexpr int slices_at_once(Plan const& p, stage const& g, int i) {
    kernel_launch const& s = p.launches[i];
    if (s.kind != op::unfold || i + 1 == g.last || g.samples_at_once == 0 || s.repeat >= 0) {
        return 0;
    }
    auto const reads_result = [&](kernel_launch const& reader) {
        return std::any_of(p.arrays + reader.first_array,
                           p.arrays + reader.first_array + reader.arrays,
                           [&](array_ref const& r) { return is_same(r, p.arrays[s.output]); });
    };
    kernel_launch const& next = p.launches[i + 1];
    bool const convolves = next.kind == op::conv || next.kind == op::conv_weight;
    if (!convolves || !reads_result(next)) {
        return 0;
    }
    for (int k = i + 2; k < p.sizes.launches; ++k) {
        if (reads_result(p.launches[k])) {
            return 0;
        }
        if (is_same(p.arrays[p.launches[k].output], p.arrays[s.output])) {
            break; // its memory has another array
        }
    }
    window const& w = p.windows[next.window];
    if (w.images != p.windows[s.window].out_height) {
        return 0;
    }
    std::ptrdiff_t const bytes =
        std::ptrdiff_t{w.height} * w.width * w.channels * std::ptrdiff_t{sizeof(T)};
    std::ptrdiff_t const fit = std::max<std::ptrdiff_t>(slice_cache / bytes, 1);
    return fit < w.images ? static_cast<int>(fit) : 0;
}

// One of these two launches over some slices of one of the samples. What is unfolded lies where
// that of the first ones did.
class slices_of_launch {
public:
    // Over `count` of `all` slices of its operands and results.
    slices_of_launch(kernel_launch const& s, tables const& t, array_ref const& unfolded,
                     std::ptrdiff_t sample, int all, int first, int count)
        : launch_{s}, tables_{arrays_, t.scalars, &window_}, window_{t.windows[s.window]} {
        bool const unfolds = s.kind == op::unfold; // a volume, of which it reads all
        int n = 0;
        auto const add = [&](int i) {
            array_ref& r = arrays_[n] = t.arrays[i];
            if (r.size.sample && !is_same(r, unfolded)) {
                std::ptrdiff_t const stride = r.sample_stride();
                r.offset += sample * stride + (unfolds ? 0 : first * (stride / all));
            }
            return n++;
        };
        launch_.first_array = n;
        for (int i = 0; i < s.arrays; ++i) {
            add(s.first_array + i);
        }
        launch_.output = n;
        for (int i = 0; i < s.results; ++i) {
            add(s.output + i);
        }
        for (int* const i :
             {&launch_.scratch, &launch_.sums, &launch_.chunk_scratch, &launch_.prepared}) {
            if (*i >= 0) {
                arrays_[n] = t.arrays[*i];
                *i = n++;
            }
        }
        launch_.window = 0;
        if (unfolds) {
            window_.out_height = count;
            window_.pad_top -= first * window_.stride_h;
        }
    }
    slices_of_launch(slices_of_launch const&) = delete;
    slices_of_launch& operator=(slices_of_launch const&) = delete;

    kernel_launch const& launch() const { return launch_; }
    cpu::tables const& tables() const { return tables_; }

private:
    kernel_launch launch_;
    cpu::tables tables_;
    window window_;
    array_ref arrays_[ir::max_operands + 6]; // two results, four of scratch memory
};

} // namespace castnet::cpu::inline CASTNET_TARGET
