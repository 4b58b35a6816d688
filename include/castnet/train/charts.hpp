// Charts as SVG: curves over epochs or launches, and bars.
#pragma once

#include <castnet/core/finite.hpp>
#include <castnet/core/text.hpp>
#include <castnet/io/detail/html.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

namespace castnet::detail {

struct curve {
    std::string name;
    std::vector<double> values; // at `first`, first + 1, …; no point where one is not finite
};

struct chart_style {
    double first = 1;       // of the axis below
    bool from_zero = false; // the other axis begins at 0
    bool filled = false;    // the area below a curve
};

[[gnu::noinline]] inline std::string rounded(double x) {
    return digits_of(x, 3);
}

[[gnu::noinline]] inline std::string svg_begin(double width, double height) {
    return string_of({"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", width, " ",
                      height, "\" width=\"", width, "\" height=\"", height, "\" role=\"img\">\n"});
}

inline constexpr char const* curve_colours[] = {"#1f6fb4", "#d9661f", "#2f8f4e", "#8a4fb0"};

// Where a number lies on an axis of a chart.
struct chart_axis {
    double least, most, begin, end; // pixels of `least` and `most`

    double at(double x) const { return begin + (x - least) / (most - least) * (end - begin); }
};

// The multiples of 1, 2 or 5 times a power of ten on an axis, about five of them.
[[gnu::noinline]] inline std::vector<double> round_numbers(double least, double most) {
    double const about = (most - least) / 5, power = std::pow(10, std::floor(std::log10(about)));
    double const times = about / power, step = power * (times <= 2 ? 2 : times <= 5 ? 5 : 10);
    double const first = std::ceil(least / step);
    std::vector<double> numbers;
    for (int i = 0; i <= 5 && (first + i) * step <= most; ++i) {
        numbers.push_back(first + i == 0 ? 0 : (first + i) * step); // not -0
    }
    return numbers;
}

// Names of round numbers to the left of a chart, and lines at them across it.
[[gnu::noinline]] inline void append_value_axis(std::string& svg, chart_axis const& y, double left,
                                                double right) {
    for (double const value : round_numbers(y.least, y.most)) {
        double const at = y.at(value);
        append(svg, {"<line class=\"grid\" x1=\"", left, "\" x2=\"", right, "\" y1=\"", at,
                     "\" y2=\"", at, "\"/><text x=\"", left - 6, "\" y=\"", at + 4,
                     "\" text-anchor=\"end\">", value, "</text>\n"});
    }
}

[[gnu::noinline]] inline chart_axis value_axis(std::vector<curve> const& curves, bool from_zero,
                                               double begin, double end) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (curve const& c : curves) {
        for (double const x : c.values) {
            least = is_finite(x) ? std::min(least, x) : least;
            most = is_finite(x) ? std::max(most, x) : most;
        }
    }
    if (!(least <= most)) {
        least = most = 0;
    }
    least = from_zero ? std::min(least, 0.0) : least;
    if (least == most) {
        double const around = most == 0 ? 1 : 0.1 * (most < 0 ? -most : most);
        least -= from_zero ? 0 : around;
        most += around;
    }
    return {least, most, begin, end};
}

// Curves in one frame, with their names above it.
[[gnu::noinline]] inline std::string line_chart(std::vector<curve> const& curves,
                                                chart_style const& style = {}) {
    constexpr double width = 560, height = 250, left = 64, top = 30, right = 548, bottom = 222;
    std::size_t longest = 1;
    for (curve const& c : curves) {
        longest = std::max(longest, c.values.size());
    }
    double const last = style.first + double(longest) - 1;
    chart_axis const x{style.first, longest > 1 ? last : style.first + 1, left, right};
    chart_axis const y = value_axis(curves, style.from_zero, bottom, top);
    std::string svg = svg_begin(width, height);
    append_value_axis(svg, y, left, right);
    for (double const end : {style.first, last}) {
        append(svg, {"<text x=\"", x.at(end), "\" y=\"", bottom + 18, "\" text-anchor=\"middle\">",
                     end, "</text>\n"});
    }
    for (std::size_t k = 0; k < curves.size(); ++k) {
        char const* const colour = curve_colours[k % std::size(curve_colours)];
        append(svg, {"<text class=\"name\" x=\"", left + 130 * double(k), "\" y=\"16\" fill=\"",
                     colour, "\">", io::detail::escaped(curves[k].name), "</text>\n"});
        std::string points, marks;
        for (std::size_t i = 0; i < curves[k].values.size(); ++i) {
            double const value = curves[k].values[i];
            if (is_finite(value)) {
                double const number = style.first + double(i);
                append(points, {x.at(number), ',', y.at(value), ' '});
                append(marks, {"<circle cx=\"", x.at(number), "\" cy=\"", y.at(value),
                               "\" r=\"2.5\" fill=\"", colour, "\"><title>", number, ": ", value,
                               "</title></circle>"});
            }
        }
        if (style.filled && !points.empty()) {
            append(svg, {"<polygon fill=\"", colour, "\" fill-opacity=\"0.3\" points=\"", left, ',',
                         bottom, ' ', points, x.at(last), ',', bottom, "\"/>\n"});
        }
        append(svg, {"<polyline fill=\"none\" stroke-width=\"1.5\" stroke=\"", colour,
                     "\" points=\"", points, "\"/>\n", longest <= 100 ? marks : "", "\n"});
    }
    return svg + "</svg>\n";
}

struct bar {
    std::string name;
    double value; // not negative
    std::string text;
};

// Horizontal bars, one below the other.
[[gnu::noinline]] inline std::string bar_chart(std::vector<bar> const& bars) {
    constexpr double width = 760, left = 330, row = 18;
    double most = 0;
    for (bar const& b : bars) {
        most = std::max(most, b.value);
    }
    double const height = row * double(bars.size()) + 6;
    std::string svg = svg_begin(width, height);
    for (std::size_t i = 0; i < bars.size(); ++i) {
        double const y = row * double(i) + 2,
                     length = most > 0 ? bars[i].value / most * (width - left - 110) : 0;
        append(svg, {"<text x=\"",
                     left - 6,
                     "\" y=\"",
                     y + 13,
                     "\" text-anchor=\"end\">",
                     io::detail::escaped(bars[i].name),
                     "</text><rect x=\"",
                     left,
                     "\" y=\"",
                     y,
                     "\" width=\"",
                     length,
                     "\" height=\"",
                     row - 4,
                     "\" fill=\"",
                     curve_colours[0],
                     "\"/><text x=\"",
                     left + length + 5,
                     "\" y=\"",
                     y + 13,
                     "\">",
                     io::detail::escaped(bars[i].text),
                     "</text>\n"});
    }
    return svg + "</svg>\n";
}

} // namespace castnet::detail
