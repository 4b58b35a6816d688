// Weights in files: everything comes back, and a file that does not fit changes nothing.
#include <castnet/castnet.hpp>

#include "../parameters.hpp"

#include <cstdio>
#include <doctest/doctest.h>
#include <filesystem>

namespace cn = castnet;
using check::everything;

namespace {

using network = cn::sequential<cn::input<2, 6, 6>, cn::conv2d<4, 3, cn::conv{.groups = 2}>,
                               cn::batch_norm, cn::relu, cn::flatten, cn::dense<3>>;
using model = cn::model<network, cn::policy::cpu, cn::batch<4>>;

struct file {
    std::string name =
        (std::filesystem::temp_directory_path() / "castnet_checkpoint.safetensors").string();
    ~file() { std::filesystem::remove(name); }
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
        CHECK(contains(refusal(f.name), "F64"));
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
        CHECK(contains(refusal(f.name), "10 tensors"));
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

TEST_CASE("history is a table that a spreadsheet reads") {
    std::string const name =
        (std::filesystem::temp_directory_path() / "castnet_history.csv").string();
    cn::history h{{"loss", "seconds"}};
    h.append({0.5, 2});
    h.append({0.25, 3});
    h.save_csv(name);
    auto const bytes = cn::io::read_file(name);
    std::filesystem::remove(name);
    CHECK(std::string(bytes.begin(), bytes.end()) == "epoch,loss,seconds\n1,0.5,2\n2,0.25,3\n");
    CHECK(h["loss"] == std::vector<double>{0.5, 0.25});
    CHECK_THROWS_AS((void)h["none"], cn::error);
}
