// A training that goes on from its checkpoint takes the steps that it would have taken.
#include <castnet/castnet.hpp>

#include <doctest/doctest.h>
#include <filesystem>
#include <stdexcept>

namespace cn = castnet;

namespace {

using network =
    cn::sequential<cn::input<36>, cn::reshape<1, 6, 6>, cn::conv2d<4, 3>, cn::batch_norm, cn::relu,
                   cn::dropout<0.3F>, cn::flatten, cn::dense<3>>;
using model_type = cn::model<network, cn::policy::cpu, cn::batch<8>>;

struct file {
    std::string name =
        (std::filesystem::temp_directory_path() / "castnet_resume.safetensors").string();
    ~file() { std::filesystem::remove(name); }
};

auto data_of() {
    return cn::data::blobs<3, 36>(20, 2); // three steps an epoch, the last of four samples
}

template <class Optimizer>
struct run {
    model_type model{cn::seed{7}};
    decltype(cn::compile(model, cn::cross_entropy, Optimizer{}, cn::accuracy)) training =
        cn::compile(model, cn::cross_entropy, Optimizer{}, cn::accuracy);

    // Three epochs; the schedule throws before step `end`.
    cn::history fit(std::string const& checkpoint, std::uint64_t every, std::uint64_t end = 99) {
        auto const schedule = [end](std::uint64_t step, std::uint64_t total) {
            if (step == end) {
                throw std::runtime_error("power failure");
            }
            return cn::one_cycle(0.05)(step, total);
        };
        return training.fit(data_of(),
                            {.epochs = 3,
                             .schedule = schedule,
                             .validation = data_of(),
                             .verbose = cn::verbosity::silent,
                             .checkpoint = checkpoint.empty()
                                               ? cn::checkpoint_options{}
                                               : cn::checkpoint(training, checkpoint, every)});
    }

    std::vector<float> numbers() const {
        std::vector<float> all;
        for (auto const& p : training.training_plan.parameters) {
            auto const w = model.get(p.name.text());
            all.insert(all.end(), w.begin(), w.end());
            for (int k = 0; p.trainable && k < Optimizer::slots; ++k) {
                auto const state = training.slot(k, p);
                all.insert(all.end(), state.begin(), state.end());
            }
        }
        return all;
    }
};

template <class Optimizer>
void interrupted_equals_whole() {
    run<Optimizer> whole;
    auto const expected = whole.fit("", 0);
    for (std::uint64_t every : {0U, 1U, 2U}) {
        for (std::uint64_t end : {3U, 4U, 5U, 6U, 8U}) {
            CAPTURE(every);
            CAPTURE(end);
            file const f;
            CHECK_THROWS_WITH((run<Optimizer>{}.fit(f.name, every, end)), "power failure");
            run<Optimizer> resumed;
            cn::load(resumed.training, f.name);
            auto const history = resumed.fit(f.name, every);
            CHECK(resumed.numbers() == whole.numbers());
            CHECK(resumed.training.steps() == whole.training.steps());
            for (auto const* column : {"loss", "accuracy", "val_loss", "learning_rate"}) {
                CHECK(history[column].back() == expected[column].back());
            }
        }
    }
}

std::string refusal(std::string const& name) {
    run<cn::adam> r;
    auto const before = r.numbers();
    std::string message;
    try {
        cn::load(r.training, name);
    } catch (cn::file_error const& e) {
        message = e.what();
    }
    CHECK(r.numbers() == before);
    return message;
}

bool contains(std::string const& text, char const* part) {
    INFO(text);
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a fit that was interrupted, in an epoch or after it, ends as one that was not") {
    interrupted_equals_whole<cn::adam>();
    interrupted_equals_whole<cn::momentum>();
    interrupted_equals_whole<cn::sgd>();
}

TEST_CASE("a checkpoint of a whole fit leaves nothing to do; one made after it begins anew") {
    file const f;
    run<cn::adam> first;
    first.fit(f.name, 0);
    run<cn::adam> second;
    cn::load(second.training, f.name);
    CHECK(second.fit("", 0).epochs() == 0);
    CHECK(second.numbers() == first.numbers());

    cn::save(first.training, f.name);
    run<cn::adam> third;
    cn::load(third.training, f.name);
    CHECK(third.fit("", 0).epochs() == 3);
    CHECK(third.training.steps() == 18);
    first.fit("", 0);
    CHECK(third.numbers() == first.numbers());
}

TEST_CASE("a model takes the weights out of a checkpoint") {
    file const f;
    run<cn::adam> trained;
    trained.fit(f.name, 0);
    model_type model{cn::seed{1}};
    cn::load(model, f.name);
    CHECK(model.predict(data_of()) == trained.model.predict(data_of()));
}

TEST_CASE("a checkpoint that does not fit is refused and changes nothing") {
    file const f;
    SUBCASE("weights only") {
        cn::save(model_type{cn::seed{7}}, f.name);
        CHECK(contains(refusal(f.name), "no checkpoint of a training"));
    }
    SUBCASE("another optimizer") {
        cn::save(run<cn::momentum>{}.training, f.name);
        CHECK(contains(refusal(f.name), "momentum"));
    }
    SUBCASE("another seed") {
        model_type other{cn::seed{8}};
        cn::save(cn::compile(other, cn::cross_entropy, cn::adam{}, cn::accuracy), f.name);
        CHECK(contains(refusal(f.name), "seed 8"));
    }
    SUBCASE("without a part of the state, or with a count that is no number") {
        cn::save(run<cn::adam>{}.training, f.name);
        auto const stored = cn::io::load_safetensors(f.name);
        std::vector<cn::io::stored_tensor> tensors = stored.entries();
        auto metadata = stored.metadata();
        SUBCASE("state") {
            tensors.pop_back();
            cn::io::save_safetensors(f.name, tensors, metadata);
            CHECK(contains(refusal(f.name), "optimizer/1/"));
        }
        SUBCASE("count") {
            metadata["castnet.steps"] = "-1";
            cn::io::save_safetensors(f.name, tensors, metadata);
            CHECK(contains(refusal(f.name), "castnet.steps"));
        }
    }
    SUBCASE("another data set") {
        CHECK_THROWS_AS(run<cn::adam>{}.fit(f.name, 1, 5), std::runtime_error);
        run<cn::adam> resumed;
        cn::load(resumed.training, f.name);
        CHECK_THROWS_AS(resumed.training.fit(cn::data::blobs<3, 36>(10, 2)), cn::error);
    }
}
