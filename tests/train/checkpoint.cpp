// Weights in files: everything comes back, and a file that does not fit changes nothing.
#include <castnet/castnet.hpp>

#include "../parameters.hpp"
#include "../temporary_path.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <doctest/doctest.h>
#include <filesystem>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace cn = castnet;
using check::everything;

namespace {

using network = cn::sequential<cn::input<2, 6, 6>, cn::conv2d<4, 3, cn::conv{.groups = 2}>,
                               cn::batch_norm, cn::relu, cn::flatten, cn::dense<3>>;
using model = cn::model<network, cn::policy::cpu, cn::batch<4>>;

struct file : check::temporary_path {
    file() : temporary_path{"checkpoint.safetensors"} {}
};

// What load() says of a file that it refuses; the model must not have changed.
std::string refusal(std::string const& name) {
    model m{cn::seed{5}};
    auto const before = everything(m);
    std::string message;
    try {
        cn::load(m, name);
    } catch (cn::file_error const& e) {
        message = e.what();
    }
    CHECK(everything(m) == before);
    return message;
}

bool contains(std::string const& text, char const* part) {
    INFO(text);
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("saved weights come back bit by bit") {
    file const f;
    model const saved{cn::seed{1}};
    cn::save(saved, f.name);
    model loaded{cn::seed{2}};
    CHECK(everything(loaded) != everything(saved));
    cn::load(loaded, f.name);
    CHECK(everything(loaded) == everything(saved));
}

TEST_CASE("a damaged file is refused, or its damage changes nothing") {
    file const f;
    model const saved{cn::seed{1}};
    cn::save(saved, f.name);
    auto const good = cn::io::read_file(f.name);
    int refused = 0;
    for (std::size_t i = 0; i < good.size(); ++i) {
        auto damaged = good;
        damaged[i] ^= static_cast<unsigned char>(1 << i % 8);
        model loaded{cn::seed{2}};
        auto const before = everything(loaded);
        try {
            cn::load(loaded, damaged);
            CHECK(everything(loaded) == everything(saved)); // the name of the checksum, say
        } catch (cn::file_error const&) {
            CHECK(everything(loaded) == before);
            ++refused;
        }
    }
    CHECK(refused > int(good.size()) - 40);

    auto const stored = cn::io::load_safetensors(f.name);
    auto tensors = stored.entries();
    float const other[1] = {7};
    REQUIRE(tensors[0].bytes.size() >= sizeof other);
    std::vector<unsigned char> bytes(tensors[0].bytes.begin(), tensors[0].bytes.end());
    std::memcpy(bytes.data(), other, sizeof other);
    tensors[0].bytes = bytes;
    cn::io::save_safetensors(f.name, tensors, stored.metadata());
    model loaded{cn::seed{2}};
    for (auto const& load :
         {std::function<void()>{[&] { cn::load(loaded, f.name); }},
          std::function<void()>{[&] { cn::load(loaded, f.name, cn::partial{}); }}}) {
        CHECK_THROWS_WITH_AS(load(), doctest::Contains("the file is damaged; take another copy"),
                             cn::file_error);
    }
    auto metadata = stored.metadata();
    metadata.erase("castnet.crc32c");
    cn::io::save_safetensors(f.name, tensors, metadata);
    cn::load(loaded, f.name);
}

TEST_CASE("weights of 16 bits, and those of float in a model of double, are read exactly") {
    file const f;
    std::uint16_t const halves[] = {0x3c00, 0xc000, 0x7bff, 0x0001}; // binary16
    std::uint16_t const brain[] = {0x3f80, 0xc0a0};                  // bfloat16
    auto const bytes = [](auto const& of) {
        return std::span{reinterpret_cast<unsigned char const*>(of), sizeof of};
    };
    cn::io::stored_tensor const tensors[] = {
        {"0.weight", cn::io::dtype::f16, {2, 2}, bytes(halves)},
        {"0.bias", cn::io::dtype::bf16, {2}, bytes(brain)}};
    cn::io::save_safetensors(f.name, tensors);

    using small = cn::sequential<cn::input<2>, cn::dense<2>>;
    cn::model<small, cn::policy::cpu, cn::batch<1>> m;
    cn::load(m, f.name);
    CHECK(m.get("0.weight") == std::vector<float>{1, -2, 65504, 0x1p-24F});
    CHECK(m.get("0.bias") == std::vector<float>{1, -5});

    cn::model<small, cn::policy::basic_cpu<double>, cn::batch<1>> wide;
    cn::load(wide, f.name);
    CHECK(wide.get("0.weight") == std::vector<double>{1, -2, 65504, 0x1p-24});
    m.set("0.bias", std::vector<float>{0.1F, 1e-40F});
    cn::save(m, f.name);
    cn::load(wide, f.name);
    CHECK(wide.get("0.bias") == std::vector<double>{double(0.1F), double(1e-40F)});
}

TEST_CASE("a file holds names and logical shapes as PyTorch has them") {
    file const f;
    cn::save(model{cn::seed{1}}, f.name);
    auto const stored = cn::io::load_safetensors(f.name);
    CHECK(stored.entries().size() == 8);
    CHECK(stored.at("0.weight").shape == std::vector<std::size_t>{4, 1, 3, 3});
    CHECK(stored.at("1.running_var").shape == std::vector<std::size_t>{4});
    CHECK(stored.at("4.weight").shape == std::vector<std::size_t>{3, 64});
    CHECK(stored.at("4.bias").shape == std::vector<std::size_t>{3});
}

TEST_CASE("PyTorch's count of batches is passed over") {
    file const f;
    model const saved{cn::seed{1}};
    cn::save(saved, f.name);
    {
        auto const stored = cn::io::load_safetensors(f.name);
        std::vector<cn::io::stored_tensor> tensors(stored.entries().begin(),
                                                   stored.entries().end());
        std::int64_t const batches = 7;
        tensors.push_back(cn::io::tensor_of("1.num_batches_tracked", {}, &batches));
        cn::io::save_safetensors(f.name, tensors);
    }
    model loaded{cn::seed{2}};
    cn::load(loaded, f.name);
    CHECK(everything(loaded) == everything(saved));
}

TEST_CASE("a file that does not fit is refused with its name and the tensor's") {
    file const f;
    SUBCASE("another network: shape") {
        using other = cn::sequential<cn::input<2, 6, 6>, cn::conv2d<4, 3>, cn::batch_norm, cn::relu,
                                     cn::flatten, cn::dense<3>>;
        cn::save(cn::model<other, cn::policy::cpu, cn::batch<1>>{}, f.name);
        auto const message = refusal(f.name);
        CHECK(contains(message, f.name.c_str()));
        CHECK(contains(message, "0.weight"));
        CHECK(contains(message, "(4, 2, 3, 3)"));
        CHECK(contains(message, "(4, 1, 3, 3)"));
    }
    SUBCASE("another element type") {
        cn::save(cn::model<network, cn::policy::basic_cpu<double>, cn::batch<1>>{}, f.name);
        auto const message = refusal(f.name);
        CHECK(contains(message, "F64"));
        CHECK(contains(message, "in PyTorch save tensor.float()"));
    }
    SUBCASE("a tensor is missing") {
        using other = cn::sequential<cn::input<2, 6, 6>, cn::conv2d<4, 3, cn::conv{.groups = 2}>,
                                     cn::batch_norm, cn::relu, cn::flatten, cn::dense<3>.no_bias()>;
        cn::save(cn::model<other, cn::policy::cpu, cn::batch<1>>{}, f.name);
        CHECK(contains(refusal(f.name), "4.bias"));
    }
    SUBCASE("a tensor too many") {
        using other =
            cn::sequential<cn::input<2, 6, 6>, cn::conv2d<4, 3, cn::conv{.groups = 2}>,
                           cn::batch_norm, cn::relu, cn::flatten, cn::dense<3>, cn::dense<3>>;
        cn::save(cn::model<other, cn::policy::cpu, cn::batch<1>>{}, f.name);
        CHECK(
            contains(refusal(f.name), "holds tensor \"5.bias\" (3), but the network has no such"));
    }
    SUBCASE("half a file") {
        cn::save(model{}, f.name);
        std::filesystem::resize_file(f.name, std::filesystem::file_size(f.name) / 2);
        CHECK(contains(refusal(f.name), f.name.c_str()));
    }
    SUBCASE("no file") {
        CHECK(contains(refusal(f.name + ".none"), ".none"));
    }
}

TEST_CASE("weights that are NaN are neither saved over good ones nor loaded") {
    file const f;
    model m{cn::seed{1}};
    cn::save(m, f.name);
    auto const good = everything(m);
    auto bias = m.get("4.bias");
    bias[1] = std::numeric_limits<float>::quiet_NaN();
    m.set("4.bias", bias);
    CHECK_THROWS_WITH_AS(
        cn::save(m, f.name),
        doctest::Contains("tensor \"4.bias\" holds nan as element 1: the training "
                          "has diverged; the file is not written, and one that was "
                          "there stays"),
        cn::file_error);
    cn::load(m, f.name);
    CHECK(everything(m) == good);

    float values[3] = {0, 0, -std::numeric_limits<float>::quiet_NaN()};
    auto const with_bias = [&](std::vector<cn::io::stored_tensor> tensors) {
        for (auto& each : tensors) {
            if (each.name == "4.bias") {
                each = cn::io::tensor_of("4.bias", {3}, values);
            }
        }
        cn::io::save_safetensors(f.name, tensors);
    };
    with_bias(cn::io::load_safetensors(f.name).entries());
    CHECK(contains(refusal(f.name), "tensor \"4.bias\" holds nan as element 2"));
    CHECK_THROWS_AS(cn::load(m, f.name, cn::partial{}), cn::file_error);
    CHECK(everything(m) == good);
    values[2] = -std::numeric_limits<float>::infinity(); // of a mask, say
    with_bias(cn::io::load_safetensors(f.name).entries());
    cn::load(m, f.name);
    CHECK(m.get("4.bias")[2] == values[2]);
}

TEST_CASE(
    "negative variances, of whose roots all predictions are NaN, are neither saved nor loaded") {
    file const f;
    model m{cn::seed{1}};
    cn::save(m, f.name);
    auto const good = everything(m);
    auto const stored = cn::io::load_safetensors(f.name);
    float const variances[4] = {1, 0, -0.5F, 1};
    auto tensors = stored.entries();
    for (auto& each : tensors) {
        if (each.name == "1.running_var") {
            each = cn::io::tensor_of("1.running_var", {4}, variances);
        }
    }
    cn::io::save_safetensors(f.name, tensors);
    CHECK(contains(refusal(f.name), "tensor \"1.running_var\" holds -0.5 as element 2, but "
                                    "variances are not negative"));
    CHECK_THROWS_AS(cn::load(m, f.name, cn::partial{}), cn::file_error);
    CHECK(everything(m) == good);
    m.set("1.running_var", variances);
    CHECK_THROWS_AS(cn::save(m, f.name), cn::file_error);
}

namespace {

using names = std::vector<std::string>;
using other_head = cn::sequential<cn::input<2, 6, 6>, cn::conv2d<4, 3, cn::conv{.groups = 2}>,
                                  cn::batch_norm, cn::relu, cn::flatten, cn::dense<5>>;

// Writes the weights of a model under other names, besides some of another network.
void save_as(std::string const& file, auto const& saved, auto const& name_in_file) {
    std::vector<std::vector<float>> values;
    std::vector<cn::io::stored_tensor> tensors;
    for (std::size_t i = 0; i < saved.parameter_tensors(); ++i) {
        auto const& p = saved.parameter_at(i);
        std::string const name = p.name.text();
        values.push_back(saved.get(name));
        tensors.push_back(cn::io::tensor_of(name_in_file(name), {p.shape.begin(), p.shape.end()},
                                            values.back().data()));
    }
    float const more[6] = {1, 2, 3, 4, 5, 6};
    std::int64_t const batches = 7;
    tensors.push_back(cn::io::tensor_of("classifier.0.weight", {2, 3}, more));
    tensors.push_back(cn::io::tensor_of("features.1.num_batches_tracked", {}, &batches));
    cn::io::save_safetensors(file, tensors);
}

} // namespace

TEST_CASE("a part of a file is loaded by a rule for names, and what was not is told") {
    file const f;
    model const saved{cn::seed{1}};
    save_as(f.name, saved, [](std::string const& name) { // torchvision's, without its top
        return name.starts_with("4.") ? "head." + name.substr(2) : "features." + name;
    });
    model m{cn::seed{2}};
    auto const kept = m.get("4.weight");
    auto const report =
        cn::load(m, f.name, cn::partial{.rename = cn::replace_prefix{"", "features."}});
    CHECK(report.loaded ==
          names{"0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean", "1.running_var"});
    CHECK(report.missing == names{"4.weight", "4.bias"});
    CHECK(report.unexpected == names{"classifier.0.weight", "head.bias", "head.weight"});
    CHECK(report.mismatched.empty());
    CHECK(m.get("0.weight") == saved.get("0.weight"));
    CHECK(m.get("1.running_var") == saved.get("1.running_var"));
    CHECK(m.get("4.weight") == kept);

    SUBCASE("names without the prefix stay; an empty one is not looked for") {
        auto const rule = [](std::string_view name) {
            return name == "4.bias" ? std::string{} : cn::replace_prefix{"4.", "head."}(name);
        };
        auto const more = cn::load(m, f.name, cn::partial{.rename = rule});
        CHECK(more.loaded == names{"4.weight"});
        CHECK(m.get("4.weight") == saved.get("4.weight"));
    }
    SUBCASE("the rule takes names as text, too") {
        auto const rule = [](std::string const& name) { return "head." + name.substr(2); };
        auto const more = cn::load(m, f.name, cn::partial{.rename = rule, .skip_mismatch = true});
        CHECK(more.loaded == names{"4.weight", "4.bias"});
    }
}

TEST_CASE("a head of another size is skipped where that is asked for") {
    file const f;
    cn::model<other_head, cn::policy::cpu, cn::batch<1>> const saved{cn::seed{1}};
    cn::save(saved, f.name);
    model m{cn::seed{2}};
    auto const before = everything(m);
    std::string message;
    try {
        cn::load(m, f.name, cn::partial{});
    } catch (cn::file_error const& e) {
        message = e.what();
    }
    CHECK(contains(message, "\"4.weight\" is F32 (5, 64)"));
    CHECK(contains(message, "(3, 64)"));
    CHECK(contains(message, "skip_mismatch"));
    CHECK(everything(m) == before);

    auto const report = cn::load(m, f.name, cn::partial{.skip_mismatch = true});
    CHECK(report.loaded.size() == 6);
    CHECK(report.mismatched == names{"4.weight", "4.bias"});
    CHECK(report.missing.empty());
    CHECK(report.unexpected.empty());
    CHECK(m.get("0.weight") == saved.get("0.weight"));
}

TEST_CASE("a file with nothing for the network is refused with an example of its names") {
    file const f;
    model m{cn::seed{2}};
    auto const before = everything(m);
    std::string message;
    auto const try_to = [&](cn::partial const& how) {
        try {
            cn::load(m, f.name, how);
        } catch (cn::file_error const& e) {
            message = e.what();
        }
        CHECK(everything(m) == before);
    };
    cn::io::save_safetensors(f.name, {});
    try_to(cn::partial{});
    CHECK(contains(message, "holds nothing for the network: it has no parameter at all"));
    save_as(f.name, m, [](std::string const& name) { return "\x1b[2J." + name; });
    try_to({.rename = cn::replace_prefix{"", "features."}});
    CHECK(contains(message, "\"0.weight\" was looked for as \"features.0.weight\""));
    CHECK(contains(message, "\"\\x1b[2J.0.bias\"")); // nothing a terminal obeys
    CHECK(contains(message, "partial::rename"));

    save_as(f.name, m, [](std::string const& name) { return "other." + name; });
    auto const all_from_one = [](std::string_view) { return std::string{"classifier.0.weight"}; };
    try_to({.rename = all_from_one, .skip_mismatch = true});
    CHECK(contains(message, "but of another shape"));

    cn::save(cn::model<network, cn::policy::basic_cpu<double>, cn::batch<1>>{}, f.name);
    try_to({});
    CHECK(contains(message, "F64"));
    CHECK(contains(message, "in PyTorch save tensor.float()"));
}

TEST_CASE("history is a table that a spreadsheet reads") {
    check::temporary_path const csv{"history.csv"};
    cn::history h{{"loss", "seconds"}};
    h.append({0.5, 2});
    h.append({0.25, 3});
    h.save_csv(csv.name);
    auto const bytes = cn::io::read_file(csv.name);
    CHECK(std::string(bytes.begin(), bytes.end()) == "epoch,loss,seconds\n1,0.5,2\n2,0.25,3\n");
    CHECK(h["loss"] == std::vector<double>{0.5, 0.25});
    CHECK_THROWS_AS((void)h["none"], cn::error);
}

TEST_CASE("history knows its best epochs") {
    double const nan = std::numeric_limits<double>::quiet_NaN();
    cn::history h{{"loss", "accuracy"}, {nan, 0.5, 0.3, 0.75, 0.2, 0.75, 0.2, 0.5}};
    CHECK(h.lowest("loss").epoch == 3);
    CHECK(h.lowest("loss").value == 0.2);
    CHECK(h.highest("accuracy").epoch == 2);
    CHECK(h.highest("loss").value == 0.3);
    CHECK_THROWS_AS((void)h.lowest("none"), cn::error);
    cn::history const never{{"loss"}, {nan}};
    CHECK(never.lowest("loss").epoch == 0);
}
