// Report of a training: one HTML file with its curves, tables and pictures, which needs nothing
// else and no scripts.
//     cn::report page{"Fashion"};
//     page.add(history);
//     page.add(training.evaluate(test).counts<"confusion_matrix">(), {"shirt", "bag", …});
//     page.add_summary(model);
//     page.add_memory(training);
//     page.add(cn::profile(training, train, numbers));
//     page.add_worst(model, test, 20);
//     page.save("report.html");
#pragma once

#include <castnet/core/finite.hpp>
#include <castnet/core/text.hpp>
#include <castnet/data/label.hpp>
#include <castnet/io/atomic_file.hpp>
#include <castnet/io/detail/html.hpp>
#include <castnet/nn/confusion_matrix.hpp>
#include <castnet/train/charts.hpp>
#include <castnet/train/history.hpp>
#include <castnet/train/pictures.hpp>
#include <castnet/train/profile.hpp>
#include <castnet/train/sample_checks.hpp>
#include <castnet/train/summary.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace castnet {

namespace detail {

inline constexpr char const* report_style = R"(
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 62em; padding: 0 1em; }
svg text { font: 12px system-ui, sans-serif; }
svg text.name { font-weight: 600; }
svg .grid { stroke: #8884; }
svg { max-width: 100%; height: auto; }
pre { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; }
td, th { padding: 0.2em 0.6em; text-align: right; }
th[scope=row] { text-align: left; }
figure { display: inline-block; margin: 0.5em; font-size: 12px; vertical-align: top; }
figure img { image-rendering: pixelated; width: 112px; display: block; }
)";

// Megabytes of the planned values over the launches of a step.
template <class Training>
[[gnu::noinline]] std::vector<double> memory_of_launches() {
    std::vector<double> bytes(std::size(Training::training_plan().launches), 0.0);
    for (planned_value const& v : planned_values<Training::training_plan()>()) {
        for (std::size_t i = v.first; i <= v.last; ++i) {
            bytes[i] += double(v.count) * sizeof(typename Training::value_type) / 1e6;
        }
    }
    return bytes;
}

// Red, green and blue of a sample, an image of one or three channels: from 0 to 1, or else from its
// least to its largest number.
template <class Image, class T>
[[gnu::noinline]] std::vector<unsigned char> colours_of(std::vector<T> const& sample) {
    constexpr std::size_t pixels = Image::extent[1] * Image::extent[2];
    auto const [least, most] = std::minmax_element(sample.begin(), sample.end());
    bool const is_unit = *least >= 0 && *most <= 1;
    double const from = is_unit ? 0 : double(*least), to = is_unit ? 1 : double(*most);
    std::vector<unsigned char> colours(3 * pixels);
    for (std::size_t i = 0; i < colours.size(); ++i) {
        std::size_t const channel = Image::extent[0] == 3 ? i % 3 : 0;
        double const x = double(sample[channel * pixels + i / 3]);
        double const part = to > from ? (x - from) / (to - from) : 0;
        double const shade = part > 0 ? std::min(part, 1.0) : 0; // NaN is black
        colours[i] = static_cast<unsigned char>(std::lround(shade * 255));
    }
    return colours;
}

// -log of the label's probability by softmax; infinite where it is NaN.
template <class T>
double loss_of_label(T const* logits, std::size_t classes, std::size_t label) {
    double const largest = double(*std::max_element(logits, logits + classes));
    double sum = 0;
    for (std::size_t k = 0; k < classes; ++k) {
        sum += std::exp(double(logits[k]) - largest);
    }
    double const loss = std::log(sum) + largest - double(logits[label]);
    return is_nan(loss) ? std::numeric_limits<double>::infinity() : loss;
}

} // namespace detail

// The sections come in the order in which they are added.
class report {
public:
    explicit report(std::string title) : title_{std::move(title)} {}

    // The curves of a fit, each with its validation, and its last epoch.
    [[gnu::noinline]] void add(history const& h) {
        heading("History");
        for (std::string const& name : h.names()) {
            if (!name.starts_with("val_") && name != "seconds" && name != "waiting") {
                std::vector<detail::curve> curves{{name, h[name]}};
                std::string const validation = "val_" + name;
                if (std::count(h.names().begin(), h.names().end(), validation) > 0) {
                    curves.push_back({validation, h[validation]});
                }
                body_ += detail::line_chart(curves);
            }
        }
        body_ += "<table><tr><th scope=\"row\">last epoch</th>";
        for (std::string const& name : h.names()) {
            append(body_, {"<th>", io::detail::escaped(name), "</th>"});
        }
        append(body_, {"</tr><tr><th scope=\"row\">", h.epochs(), "</th>"});
        for (std::size_t i = h.rows().size() - (h.epochs() > 0 ? h.names().size() : 0);
             i < h.rows().size(); ++i) {
            append(body_, {"<td>", h.rows()[i], "</td>"});
        }
        body_ += "</tr></table>\n";
    }

    // A confusion matrix, with the precision, recall and F-score of each class; classes without a
    // name are numbers.
    template <std::size_t Classes>
    [[gnu::noinline]] void add(confusion_counts<Classes> const& confusion,
                               std::vector<std::string> const& classes = {}) {
        heading("Confusion matrix");
        append(body_, {"<p>Rows are labels, columns predictions; accuracy ", confusion.accuracy(),
                       ".</p>\n<table><tr><th></th>"});
        for (std::size_t k = 0; k < Classes; ++k) {
            append(body_, {"<th>", class_name(classes, k), "</th>"});
        }
        body_ += "<th>recall</th><th>precision</th><th>F1</th></tr>\n";
        for (std::size_t label = 0; label < Classes; ++label) {
            append(body_, {"<tr><th scope=\"row\">", class_name(classes, label), "</th>"});
            double all = confusion.undecided(label);
            for (std::size_t k = 0; k < Classes; ++k) {
                all += confusion(label, k);
            }
            for (std::size_t k = 0; k < Classes; ++k) {
                double const part = all > 0 ? confusion(label, k) / all : 0;
                append(body_,
                       {"<td style=\"background: rgba(", label == k ? "47,143,78" : "217,102,31",
                        ',', 0.8 * part, ")\">", confusion(label, k), "</td>"});
            }
            append(body_, {"<td>", detail::rounded(confusion.recall(label)), "</td><td>",
                           detail::rounded(confusion.precision(label)), "</td><td>",
                           detail::rounded(confusion.f1(label)), "</td></tr>\n"});
        }
        body_ += "</table>\n";
    }

    // The layers of a model, as summary(model), and their launches, as network_picture(model).
    template <class Model>
    [[gnu::noinline]] void add_summary(Model const& model) {
        heading("Network");
        append(body_,
               {"<pre>", io::detail::escaped(summary(model)), "</pre>\n", network_picture(model)});
    }

    // The memory of a training, as memory_report(), how much of it holds activations and their
    // gradients from launch to launch of a step, and where, as memory_picture().
    template <class Training>
    [[gnu::noinline]] void add_memory(Training const& training) {
        heading("Memory");
        append(body_, {"<pre>", io::detail::escaped(memory_report(training)), "</pre>\n",
                       detail::line_chart({{"MB of activations over the launches of a step",
                                            detail::memory_of_launches<Training>()}},
                                          {.first = 0, .from_zero = true, .filled = true}),
                       memory_picture(training)});
    }

    // The launches of a step that take longest, as of profile().
    [[gnu::noinline]] void add(std::vector<launch_profile> rows, std::size_t most = 20) {
        heading("Time of a step");
        double total = 0;
        for (launch_profile const& row : rows) {
            total += row.seconds;
        }
        std::sort(rows.begin(), rows.end(),
                  [](auto const& a, auto const& b) { return a.seconds > b.seconds; });
        append(body_,
               {"<p>", detail::rounded(1e3 * total), " ms in ", rows.size(), " launches</p>\n"});
        rows.resize(std::min(rows.size(), most));
        std::vector<detail::bar> bars;
        bars.reserve(rows.size());
        for (launch_profile const& row : rows) {
            bars.push_back({string_of({row.what.substr(0, 40), ", ", row.shape}), row.seconds,
                            string_of({detail::rounded(1e3 * row.seconds), " ms"})});
        }
        body_ += detail::bar_chart(bars);
    }

    // The samples of a data set with labels whose label is least probable by softmax of the first
    // output, with their pictures where the first input is an image of one or three channels.
    // Throws castnet::error for a label that the output does not have.
    template <class Model, class Data>
    [[gnu::noinline]] void add_worst(Model const& model, Data const& data, std::size_t count = 20,
                                     std::vector<std::string> const& classes = {}) {
        static_assert(data::is_label<typename Data::target_type>,
                      "castnet: report::add_worst is for data sets whose target is a class number, "
                      "data::label<classes>");
        using input = typename Data::template input_shape<0>;
        auto const outputs = model.predict(data);
        std::size_t const numbers = data.size() > 0 ? outputs.size() / data.size() : 0;
        std::vector<std::pair<double, std::size_t>> losses; // and the samples
        for (std::size_t i = 0; i < data.size(); ++i) {
            double label = 0;
            data.copy_target(i, &label);
            std::size_t const own = detail::checked_label(label, numbers, i, "castnet: report");
            losses.emplace_back(detail::loss_of_label(outputs.data() + i * numbers, numbers, own),
                                i);
        }
        std::size_t const shown = std::min(count, losses.size());
        std::partial_sort(losses.begin(), losses.begin() + std::ptrdiff_t(shown), losses.end(),
                          [](auto const& a, auto const& b) {
                              return a.first > b.first ||
                                     (a.first == b.first && a.second < b.second);
                          });
        heading("Samples with the largest losses");
        for (std::size_t i = 0; i < shown; ++i) {
            auto const [loss, sample] = losses[i];
            std::size_t label = 0;
            data.copy_target(sample, &label);
            auto const* const own = outputs.data() + sample * numbers;
            auto const predicted = std::size_t(std::max_element(own, own + numbers) - own);
            body_ += "<figure>";
            if constexpr (input::rank == 3) {
                if constexpr (input::extent[0] == 1 || input::extent[0] == 3) {
                    std::vector<typename Model::value_type> numbers_of(input::count);
                    data.copy_input(sample, numbers_of.data());
                    append(body_,
                           {"<img alt=\"sample ", sample, "\" src=\"",
                            io::detail::picture_address(detail::colours_of<input>(numbers_of),
                                                        input::extent[2], input::extent[1]),
                            "\"/>"});
                }
            }
            append(body_, {"<figcaption>sample ", sample, "<br/>", class_name(classes, label),
                           ", predicted ", class_name(classes, predicted), "<br/>loss ",
                           detail::rounded(loss), "</figcaption></figure>\n"});
        }
    }

    // Text under a heading of its own.
    [[gnu::noinline]] void add_text(std::string_view title, std::string_view text) {
        heading(title);
        append(body_, {"<pre>", io::detail::escaped(text), "</pre>\n"});
    }

    // The page, which is XML, too.
    [[gnu::noinline]] std::string text() const {
        std::string const title = io::detail::escaped(title_);
        return string_of({"<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" "
                          "lang=\"en\">\n<head><meta charset=\"utf-8\"/><title>",
                          title, "</title><style>", detail::report_style,
                          "</style></head>\n<body>\n<h1>", title, "</h1>\n", body_,
                          "</body>\n</html>\n"});
    }

    // Writes the page; it appears whole or not at all. Throws file_error.
    [[gnu::noinline]] void save(std::string const& path) const {
        io::atomic_file file{path};
        file.write(text());
        file.commit();
    }

private:
    [[gnu::noinline]] void heading(std::string_view title) {
        append(body_, {"<h2>", io::detail::escaped(title), "</h2>\n"});
    }
    [[gnu::noinline]] static std::string class_name(std::vector<std::string> const& classes,
                                                    std::size_t number) {
        return number < classes.size() ? io::detail::escaped(classes[number]) : string_of({number});
    }

    std::string title_, body_;
};

} // namespace castnet
