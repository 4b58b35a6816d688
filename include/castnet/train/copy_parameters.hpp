// Copy of the parameters of a model into another one: all, a part of them or of the way there.
#pragma once

#include <castnet/core/hyperparameters.hpp>
#include <castnet/train/model.hpp>
#include <castnet/train/partial_load.hpp>
#include <castnet/train/shape_text.hpp>
#include <castnet/train/weights.hpp>

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

namespace castnet {

namespace detail {

template <class Extents>
[[gnu::noinline]] error other_shape(std::string const& name, Extents const& found,
                                    ir::placed_parameter const& p) {
    return error({"castnet: copy_parameters: parameter '", name, "' is ", shape_text(found),
                  " in one model, but ", shape_text(p.shape), " in the other"});
}

// Throws castnet::error unless From has a parameter of the name and the shape of p.
template <class From>
[[gnu::noinline]] void check_same_parameter(ir::placed_parameter const& p,
                                            std::string const& name) {
    for (size_t i = 0; i < From::parameter_tensors(); ++i) {
        ir::placed_parameter const& other = From::parameter_at(i);
        if (other.name.text() == name) {
            if (!std::equal(other.shape.begin(), other.shape.end(), p.shape.begin(),
                            p.shape.end())) {
                throw other_shape(name, other.shape, p);
            }
            return;
        }
    }
    throw error({"castnet: copy_parameters: the first model has no parameter '", name,
                 "', which the second one has; copy what both have with castnet::partial"});
}

// Whether the parameters of two models have the same order of elements in memory.
template <class A, class B>
inline constexpr bool lie_alike =
    std::is_same_v<typename A::network_type, typename B::network_type> &&
    std::is_same_v<typename A::device, typename B::device>;

} // namespace detail

// Gives every parameter and running statistic of `to` the values of the one of the same name in
// `from`, as Keras' to.set_weights(from.get_weights()) does; the policies and batches of the models
// may differ, and `from` may have more parameters. With a share below 1, each becomes
// to + share * (from - to), as in target networks that follow slowly (Polyak averaging). Throws
// castnet::error, and changes nothing, if `from` has no parameter of that name and shape, if the
// share is not between 0 and 1, if `to` shows averages (averaged_weights), or if another thread
// uses `to` or changes `from`.
template <class Net, class Where, class Batch, class OtherNet, class Other, class OtherBatch>
void copy_parameters(model<Net, Where, Batch> const& from, model<OtherNet, Other, OtherBatch>& to,
                     double share = 1) {
    using source = model<Net, Where, Batch>;
    using T = typename Other::value_type;
    detail::check_hyperparameters("copy_parameters", {{"share", share, hyperparameter::fraction}});
    model_access::exclusive const writes{to.access(), "copy_parameters"};
    to.access().refuse_averages("copy_parameters");
    model_access::shared const reads{from.access(), "copy_parameters"};
    constexpr bool alike = detail::lie_alike<source, model<OtherNet, Other, OtherBatch>>;
    auto const values_of = [](auto const& m, std::string const& name) {
        if constexpr (alike) {
            return m.stored(name);
        } else {
            return m.get(name);
        }
    };
    std::vector<std::vector<T>> results;
    for (size_t i = 0; i < to.parameter_tensors(); ++i) {
        std::string const name = to.parameter_at(i).name.text();
        detail::check_same_parameter<source>(to.parameter_at(i), name);
        auto const values = values_of(from, name);
        std::vector<T>& result = results.emplace_back(values.begin(), values.end());
        if (share < 1) {
            std::vector<T> const before = values_of(to, name);
            std::transform(before.begin(), before.end(), result.begin(), result.begin(),
                           [&](T x, T y) { return x + static_cast<T>(share) * (y - x); });
        }
    }
    if constexpr (alike) {
        for (size_t i = 0; i < results.size(); ++i) {
            to.store(to.parameter_at(i), results[i]);
        }
    } else {
        detail::set_parameters(to, results);
    }
}

// The same of the parameters and running statistics that `from` has under the names that `how`
// gives them. The others keep their values, and the report names them. Throws castnet::error, and
// changes nothing, if there are none, if one has another shape and not how.skip_mismatch, or if
// another thread uses `to` or changes `from`.
template <class Net, class Where, class Batch, class OtherNet, class Other, class OtherBatch>
load_report copy_parameters(model<Net, Where, Batch> const& from,
                            model<OtherNet, Other, OtherBatch>& to, partial const& how) {
    using source = model<Net, Where, Batch>;
    using T = typename Other::value_type;
    model_access::exclusive const writes{to.access(), "copy_parameters"};
    to.access().refuse_averages("copy_parameters");
    model_access::shared const reads{from.access(), "copy_parameters"};
    std::vector<io::stored_tensor> tensors; // without their values
    for (size_t i = 0; i < source::parameter_tensors(); ++i) {
        ir::placed_parameter const& p = source::parameter_at(i);
        tensors.push_back({p.name.text(),
                           io::dtype_of<typename Where::value_type>,
                           {p.shape.begin(), p.shape.end()},
                           {}});
    }
    detail::partial_match all =
        detail::match(tensors, {&to.parameter_at(0), to.parameter_tensors()}, how);
    if (!all.nothing.empty()) {
        throw error({"castnet: copy_parameters: the first model ", all.nothing});
    }
    std::vector<std::vector<T>> values;
    for (auto const& [parameter, tensor] : all.pairs) {
        if (!detail::has_shape_of(tensors[tensor], *parameter)) {
            throw detail::other_shape(tensors[tensor].name, tensors[tensor].shape, *parameter);
        }
        auto const found = from.get(tensors[tensor].name);
        values.emplace_back(found.begin(), found.end());
    }
    for (size_t i = 0; i < values.size(); ++i) {
        to.set(*all.pairs[i].parameter, values[i]);
    }
    return std::move(all.report);
}

} // namespace castnet
