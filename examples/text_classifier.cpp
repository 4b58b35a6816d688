// Which licence a passage is from: its words become rows of an embedding, a convolution over
// time sees their neighbours, and the mean over the words of a passage, which are of different
// numbers, decides. Every fifth passage of each licence validates, none overlaps another. (Keras:
// TextVectorization, Embedding with a mask, Conv1D, GlobalAveragePooling1D.)
//
// There are seven licences, some of which share sentences; of the 99 passages that validate, 78 %
// are told right after 30 epochs, about a second on two cores.
//
//   text_classifier [FOLDER [EPOCHS]]
//
// The folder is /usr/share/common-licenses unless told, which every Debian has.
#include <castnet/castnet.hpp>
#include <castnet/data.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace cn = castnet;

constexpr char const* licences[] = {"Apache-2.0", "Artistic", "GFDL-1.3", "GPL-3",
                                    "LGPL-2.1",   "MPL-1.1",  "MPL-2.0"};
constexpr std::size_t classes = std::size(licences);
constexpr std::size_t vocabulary = 2000, steps = 64;
constexpr int unknown = 1; // 0 is the padding

struct classifier {
    constexpr auto operator()(auto words, auto length) const {
        constexpr auto wide = cn::conv{.padding = cn::same};
        auto const x = words | cn::embedding<vocabulary, 64>.padding_idx(0) | cn::dropout<0.3>;
        auto const seen = cn::mask_steps(x, length) | cn::conv1d<64, 3, wide> | cn::relu;
        return cn::global_avg_pool1d(seen, length) | cn::dropout<0.5> | cn::dense<classes>;
    }
};
using network =
    cn::network<classifier{}, cn::input_ids<vocabulary, steps>, cn::input_length<steps>>;
using passages =
    cn::data::dataset<cn::data::label<classes>, cn::ids<vocabulary, steps>, cn::length_of<steps>>;

std::vector<std::string> words_of(std::string const& file) {
    std::ifstream in{file};
    if (!in) {
        throw cn::error({"text_classifier: there is no file ", file});
    }
    std::vector<std::string> words(1);
    for (char c; in.get(c);) {
        if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
            words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        } else if (!words.back().empty()) {
            words.emplace_back();
        }
    }
    return words;
}

struct text {
    std::vector<std::vector<std::string>> passages;
    std::vector<int> labels;
};

// Ids of words, the most frequent first; all others are unknown.
std::map<std::string, int> number_words(text const& t) {
    std::map<std::string, int> counts;
    for (auto const& passage : t.passages) {
        for (auto const& word : passage) {
            counts[word] -= 1;
        }
    }
    std::vector<std::pair<int, std::string>> sorted;
    sorted.reserve(counts.size());
    for (auto const& [word, count] : counts) {
        sorted.emplace_back(count, word);
    }
    std::sort(sorted.begin(), sorted.end());
    std::map<std::string, int> ids;
    for (std::size_t i = 0; i < sorted.size() && i + 2 < vocabulary; ++i) {
        ids[sorted[i].second] = static_cast<int>(i + 2);
    }
    return ids;
}

passages as_data_set(text const& t, std::map<std::string, int> const& ids) {
    std::vector<std::vector<int>> numbered;
    for (auto const& passage : t.passages) {
        auto& to = numbered.emplace_back();
        for (auto const& word : passage) {
            auto const found = ids.find(word);
            to.push_back(found == ids.end() ? unknown : found->second);
        }
    }
    auto const [words, lengths] = cn::data::pad_sequences<steps>(numbered);
    return passages{words, lengths, t.labels};
}

int main(int count, char** values) try {
    std::string const folder = count > 1 ? values[1] : "/usr/share/common-licenses";
    text train, test;
    for (std::size_t k = 0; k < classes; ++k) {
        auto const words = words_of(folder + "/" + licences[k]);
        std::size_t number = 0;
        for (std::size_t i = 0; i < words.size(); ++number) {
            std::size_t const length = std::min(24 + number * 7 % 41, words.size() - i);
            text& to = number % 5 == 4 ? test : train;
            to.passages.emplace_back(words.begin() + std::ptrdiff_t(i),
                                     words.begin() + std::ptrdiff_t(i + length));
            to.labels.push_back(int(k));
            i += length;
        }
    }
    auto const ids = number_words(train);
    cn::model<network, cn::policy::cpu, cn::batch<32>> model{cn::seed{1}};
    auto training =
        cn::compile(model, cn::cross_entropy, cn::adam{.learning_rate = 3e-3}, cn::accuracy);
    training.fit(as_data_set(train, ids), {.epochs = count > 2 ? std::atoi(values[2]) : 30,
                                           .validation = as_data_set(test, ids)});
} catch (cn::error const& wrong) {
    std::fprintf(stderr, "%s\n", wrong.what());
    return 1;
}
