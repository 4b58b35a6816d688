// Pictures of a plan as SVG: its launches with what they read from each other, and where the values
// of a step lie in memory.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/io/detail/html.hpp>
#include <castnet/train/charts.hpp>
#include <castnet/train/launch_name.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace castnet {

namespace detail {

// An array that a launch writes and later ones read, for the whole batch.
struct planned_value {
    std::ptrdiff_t offset, count; // numbers of the workspace
    std::size_t first, last;      // the launches that write it and read it last
};

// Values that pass between launches of a step: activations and their gradients, but for those that
// pass within a stage, a few samples at a time.
template <auto const& Plan>
[[gnu::noinline]] std::vector<planned_value> planned_values() {
    std::vector<planned_value> values;
    auto const kept = [](ir::array_ref const& r) {
        return r.where == ir::region::workspace && r.chunk_stride == 0;
    };
    for (std::size_t i = 0; i < std::size(Plan.launches); ++i) {
        ir::kernel_launch const& now = Plan.launches[i];
        for (int k = now.first_array; k < now.output; ++k) {
            ir::array_ref const& r = Plan.arrays[k];
            auto const read =
                std::find_if(values.rbegin(), values.rend(), [&](planned_value const& v) {
                    return v.offset <= r.offset && r.offset < v.offset + v.count;
                });
            if (kept(r) && read != values.rend()) {
                read->last = i;
            }
        }
        for (int k = now.output; k < now.output + now.results; ++k) {
            ir::array_ref const& r = Plan.arrays[k];
            if (kept(r)) {
                values.push_back(
                    {r.offset, r.size.count() * (r.size.sample ? Plan.batch : 1), i, i});
            }
        }
    }
    return values;
}

// The launch before this one that wrote an array last; -1 for what comes from outside.
template <auto const& Plan>
[[gnu::noinline]] int writer_of(ir::array_ref const& r, int before) {
    for (int i = before - 1; i >= 0; --i) {
        ir::kernel_launch const& s = Plan.launches[i];
        for (int k = s.output; k < s.output + s.results; ++k) {
            ir::array_ref const& w = Plan.arrays[k];
            std::ptrdiff_t const count =
                w.size.count() * (w.size.sample && w.chunk_stride == 0 ? Plan.batch : 1);
            if (w.where == r.where && w.chunk_stride == r.chunk_stride && w.offset <= r.offset &&
                r.offset < w.offset + count) {
                return i;
            }
        }
    }
    return -1;
}

// "conv relu, 196 x 64, 0.weight": with the pixels and channels of the result, and the parameters
// that it reads.
template <auto const& Plan>
[[gnu::noinline]] std::string launch_text(ir::kernel_launch const& s) {
    ir::extents const result = Plan.arrays[s.output].size;
    std::string text =
        string_of({launch_name<Plan>(s), ", ", result.pixels, " x ", result.channels});
    for (int k = s.first_array; k < s.output; ++k) {
        ir::array_ref const& r = Plan.arrays[k];
        if (r.where == ir::region::parameters) {
            for (auto const& p : Plan.parameters) {
                if (p.offset <= r.offset && r.offset < p.offset + p.count()) {
                    append(text, {", ", p.name.text()});
                }
            }
        }
    }
    return text;
}

// One line of launch_picture().
struct pictured_launch {
    std::string text;
    std::vector<int> reads; // launches before it, and -1 for what comes from outside
};

// Launches from top to bottom, with an arc at the left from each to those that read its result.
[[gnu::noinline]] inline std::string launch_picture(std::vector<pictured_launch> const& launches) {
    constexpr double row = 22, dot = 4;
    double longest = 0, widest = 20;
    for (std::size_t i = 0; i < launches.size(); ++i) {
        longest = std::max(longest, double(launches[i].text.size()));
        for (int const from : launches[i].reads) {
            widest = std::max(widest, std::min(160.0, 8 * double(int(i) - from)));
        }
    }
    double const left = widest + 12, width = left + 16 + 6.6 * longest,
                 height = row * double(launches.size() + 1);
    std::string svg = svg_begin(width, height);
    auto const middle = [&](int i) { return row * (i + 1.5); };
    append(svg, {"<text x=\"", left + 10, "\" y=\"", middle(-1) + dot, "\">inputs</text>\n"});
    for (int i = 0; i < int(launches.size()); ++i) {
        for (int const from : launches[std::size_t(i)].reads) {
            double const out = std::min(160.0, 8.0 * (i - from));
            append(svg, {"<path fill=\"none\" stroke=\"", curve_colours[0],
                         "\" stroke-opacity=\"0.6\" d=\"M ", left, ' ', middle(from), " C ",
                         left - out, ' ', middle(from), ' ', left - out, ' ', middle(i), ' ', left,
                         ' ', middle(i), "\"/>\n"});
        }
        append(svg, {"<circle cx=\"", left, "\" cy=\"", middle(i), "\" r=\"", dot, "\" fill=\"",
                     curve_colours[0], "\"/><text x=\"", left + 10, "\" y=\"", middle(i) + dot,
                     "\">", io::detail::escaped(launches[std::size_t(i)].text), "</text>\n"});
    }
    return svg + "</svg>\n";
}

// Rectangles from the launch that writes a value to the last that reads it, and from its first byte
// to its last.
[[gnu::noinline]] inline std::string memory_picture(std::vector<planned_value> const& values,
                                                    std::vector<std::string> const& launches,
                                                    double bytes_of_number) {
    constexpr double width = 760, height = 360, left = 64, top = 10, right = 748, bottom = 332;
    std::ptrdiff_t end = 1;
    for (planned_value const& v : values) {
        end = std::max(end, v.offset + v.count);
    }
    double const megabytes = bytes_of_number / 1e6; // of a number
    chart_axis const x{0, std::max(1.0, double(launches.size())), left, right},
        y{0, double(end) * megabytes, bottom, top};
    std::string svg = svg_begin(width, height);
    append_value_axis(svg, y, left, right);
    append(svg, {"<text x=\"", left, "\" y=\"", bottom + 18, "\">MB of the workspace, over the ",
                 launches.size(), " launches of a step</text>\n"});
    for (std::size_t k = 0; k < values.size(); ++k) {
        planned_value const& v = values[k];
        double const from = x.at(double(v.first)),
                     over = y.at(double(v.offset + v.count) * megabytes);
        append(svg,
               {"<rect x=\"", from, "\" y=\"", over, "\" width=\"", x.at(double(v.last + 1)) - from,
                "\" height=\"", y.at(double(v.offset) * megabytes) - over, "\" fill=\"",
                curve_colours[k % std::size(curve_colours)],
                "\" fill-opacity=\"0.6\" stroke=\"#fff\" stroke-width=\"0.3\"><title>",
                io::detail::escaped(launches[v.first]), ": ", rounded(double(v.count) * megabytes),
                " MB</title></rect>\n"});
    }
    return svg + "</svg>\n";
}

template <auto const& Plan>
[[gnu::noinline]] std::vector<std::string> launch_texts() {
    std::vector<std::string> texts;
    for (ir::kernel_launch const& s : Plan.launches) {
        texts.push_back(launch_text<Plan>(s));
    }
    return texts;
}

template <auto const& Plan>
[[gnu::noinline]] std::vector<pictured_launch> pictured_launches() {
    std::vector<pictured_launch> launches;
    for (ir::kernel_launch const& s : Plan.launches) {
        pictured_launch one{launch_text<Plan>(s), {}};
        for (int k = s.first_array; k < s.output; ++k) {
            ir::array_ref const& r = Plan.arrays[k];
            bool const before_epilogue = s.end.bias && k == s.first_array + 2;
            if (!before_epilogue &&
                (r.where == ir::region::workspace || r.where == ir::region::batch)) {
                one.reads.push_back(writer_of<Plan>(r, int(launches.size())));
            }
        }
        std::sort(one.reads.begin(), one.reads.end());
        one.reads.erase(std::unique(one.reads.begin(), one.reads.end()), one.reads.end());
        launches.push_back(std::move(one));
    }
    return launches;
}

} // namespace detail

// The network as it predicts: a launch in each row, as the compiler has fused its operations, with
// the shape of its result for one sample, the names of its parameters, and arcs to the launches
// that read it. SVG for a file of its own or a page.
template <class Model>
[[gnu::noinline]] std::string network_picture(Model const&) {
    return detail::launch_picture(detail::pictured_launches<Model::prediction_plan>());
}

// The same of a training's step: the network, its loss and metrics, and their gradients.
template <class Training>
[[gnu::noinline]] std::string step_picture(Training const&) {
    return detail::launch_picture(detail::pictured_launches<Training::training_plan()>());
}

// Where the values of a training's step lie in the workspace, from the launch that writes one to
// the last that reads it; a pointer on a value shows its launch and size. Without what passes
// between launches a few samples at a time. SVG, as above.
template <class Training>
[[gnu::noinline]] std::string memory_picture(Training const&) {
    return detail::memory_picture(detail::planned_values<Training::training_plan()>(),
                                  detail::launch_texts<Training::training_plan()>(),
                                  sizeof(typename Training::value_type));
}

} // namespace castnet
