// Partial loading of weights, load(model, file, partial{…}) and copy_parameters(from, to,
// partial{…}): those that a file or model and a network have in common, as PyTorch's
// load_state_dict(strict=False).
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/train/weights.hpp>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace castnet {

// Function of a name, as std::string_view or as std::string, that returns another one.
struct name_function : std::function<std::string(std::string_view)> {
    name_function() = default;
    template <class F>
        requires(!std::is_same_v<F, name_function>)
    name_function(F f) {
        if constexpr (std::is_constructible_v<function, F>) {
            function::operator=(std::move(f));
        } else if constexpr (std::is_invocable_r_v<std::string, F&, std::string>) {
            function::operator=(
                [f = std::move(f)](std::string_view name) mutable { return f(std::string{name}); });
        } else {
            static_assert(detail::never<F>,
                          "castnet: partial::rename is a function from a name of the network to "
                          "the name in the file: [](std::string_view name) { return \"body.\" + "
                          "std::string{name}; }, or cn::replace_prefix");
        }
    }
};

struct partial {
    // Maps a parameter's name to its name in the file or the other model; if empty, names are
    // equal. Parameters for which it returns "" are skipped.
    name_function rename{};
    // Parameters that have another shape there keep their values, as with Keras' skip_mismatch;
    // otherwise they are an error.
    bool skip_mismatch = false;
};

// A rule for partial::rename: names that begin with `ours` begin with `theirs` in the file, others
// are equal. replace_prefix{"", "features."} adds a prefix to all.
struct replace_prefix {
    std::string ours, theirs;

    std::string operator()(std::string_view name) const {
        return name.starts_with(ours) ? theirs + std::string{name.substr(ours.size())}
                                      : std::string{name};
    }
};

// Report of a partial load: names of parameters of the network and of tensors of the file or the
// other model.
struct load_report {
    std::vector<std::string> loaded;
    std::vector<std::string> missing;    // there is no such tensor: they keep their values
    std::vector<std::string> mismatched; // it has another shape there: they keep their values
    std::vector<std::string> unexpected; // tensors that no parameter asked for
};

namespace detail {

// Pairs of parameters and tensors by their number.
struct partial_match {
    struct pair {
        ir::placed_parameter const* parameter;
        size_t tensor;
    };
    std::vector<pair> pairs;
    load_report report;
    std::string nothing; // where there is no pair: what there is instead
};

partial_match match(std::vector<io::stored_tensor> const& tensors,
                    std::span<ir::placed_parameter const> parameters, partial const& how);

#ifndef __CUDA_ARCH__ // the host's work, which nvcc would read once more for the GPU

[[gnu::noinline]] inline std::string nothing_loaded(load_report const& report,
                                                    std::string const& first_asked) {
    if (!report.mismatched.empty()) {
        return string_of(
            {"holds nothing for the network: ", quantity(report.mismatched.size(), "tensor"),
             " with the name of a parameter, but of another shape"});
    }
    if (report.unexpected.empty()) {
        return "holds nothing for the network: it has no parameter at all";
    }
    auto const first = [](std::vector<std::string> const& names) {
        return io::detail::shown(names.empty() ? "" : names.front());
    };
    return string_of({"holds nothing for the network, whose first parameter ",
                      first(report.missing), " was looked for as ", io::detail::shown(first_asked),
                      "; its own first one is ", first(report.unexpected),
                      "; give partial::rename a rule from the one to the other"});
}

[[gnu::noinline]] inline partial_match match(std::vector<io::stored_tensor> const& tensors,
                                             std::span<ir::placed_parameter const> parameters,
                                             partial const& how) {
    partial_match all;
    load_report& report = all.report;
    std::vector<char> is_asked(tensors.size(), 0);
    std::string first_asked;
    for (ir::placed_parameter const& p : parameters) {
        std::string const name = p.name.text();
        std::string const asked = how.rename ? how.rename(name) : name;
        auto const t = std::find_if(tensors.begin(), tensors.end(),
                                    [&](io::stored_tensor const& x) { return x.name == asked; });
        if (t == tensors.end()) {
            if (report.missing.empty()) {
                first_asked = asked;
            }
            report.missing.push_back(name);
            continue;
        }
        auto const number = size_t(t - tensors.begin());
        is_asked[number] = 1;
        if (how.skip_mismatch && !has_shape_of(*t, p)) {
            report.mismatched.push_back(name);
        } else {
            report.loaded.push_back(name);
            all.pairs.push_back({&p, number});
        }
    }
    for (size_t i = 0; i < tensors.size(); ++i) {
        if (is_asked[i] == 0 && is_of_network(tensors[i])) {
            report.unexpected.push_back(tensors[i].name);
        }
    }
    if (report.loaded.empty()) {
        all.nothing = nothing_loaded(report, first_asked);
    }
    return all;
}

#endif

} // namespace detail

// Reads the parameters and running statistics that the file holds under the names that `how` gives
// them. The others keep their values, and the report names them. Throws file_error, and leaves the
// model as it was, if there is nothing to load, if a tensor holds NaN or a negative variance or has
// a type whose values the model's element type does not hold or, unless how.skip_mismatch, another
// shape than the parameter. (PyTorch's "….num_batches_tracked" and the optimizer's state in a
// checkpoint are passed over.)
template <class Net, class Where, class Batch>
[[gnu::noinline]] load_report load(model<Net, Where, Batch>& m, std::string const& file,
                                   partial const& how) {
    using model_type = model<Net, Where, Batch>;
    io::safetensors_file const stored = detail::load_weights_file(file);
    detail::partial_match all = detail::match(
        stored.entries(), {&model_type::parameter_at(0), model_type::parameter_tensors()}, how);
    if (!all.nothing.empty()) {
        throw file_error(stored.file_name(), {all.nothing});
    }
    std::vector<std::vector<typename Where::value_type>> values;
    values.reserve(all.pairs.size());
    for (auto const& [parameter, tensor] : all.pairs) {
        values.push_back(detail::values_of<typename Where::value_type>(
            stored, stored.entries()[tensor].name, *parameter,
            "leave out what has another shape by partial::skip_mismatch"));
    }
    model_access::exclusive const access{m.access(), "load"};
    m.access().refuse_averages("load");
    for (size_t i = 0; i < values.size(); ++i) {
        m.set(*all.pairs[i].parameter, values[i]);
    }
    return std::move(all.report);
}

} // namespace castnet
