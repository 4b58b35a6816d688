// Regression on a table: thirteen numbers of a house give its price. The table is a CSV file; its
// columns are standardised, four fifths of the rows train a small multilayer perceptron, the rest
// validate it, and TensorBoard shows the losses. (PyTorch: DataLoader, nn.Linear, SummaryWriter.)
//
//   boston_style_regression [FILE [TARGET [EPOCHS]]]
//
// Without a file, one with the size of the Boston housing data is made of random numbers.
#include <castnet/castnet.hpp>
#include <castnet/data/standardize_columns.hpp>
#include <castnet/io/csv_table.hpp>
#include <castnet/train/tensorboard.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace cn = castnet;

using network =
    cn::sequential<cn::input<13>, cn::dense<16>, cn::relu, cn::dense<32>, cn::relu, cn::dense<1>>;

void write_houses(std::string const& file) {
    std::mt19937 random{7};
    std::normal_distribution<double> normal;
    std::vector<std::string> names(14, "price");
    std::vector<double> values;
    for (std::size_t i = 0; i < 13; ++i) {
        names[i] = "fact_" + std::to_string(i);
    }
    for (int house = 0; house < 506; ++house) {
        double price = 22;
        for (int i = 0; i < 13; ++i) {
            values.push_back(normal(random) * (i + 1) + 5 * i);
            double const x = (values.back() - 5 * i) / (i + 1);
            price += i % 3 == 0 ? 2.5 * x : std::tanh(x) * (i % 2 == 0 ? 1.5 : -1.5);
        }
        values.push_back(price + normal(random));
    }
    cn::io::write_csv(file, names, values);
}

int main(int count, char** arguments) try {
    std::string const file = count > 1 ? arguments[1] : "houses.csv";
    std::string const target = count > 2 ? arguments[2] : "price";
    int const epochs = count > 3 ? std::atoi(arguments[3]) : 100;
    if (count < 2) {
        write_houses(file);
    }
    auto const table = cn::io::read_csv(file);
    auto facts = table.matrix(table.names_without({target}));
    std::size_t const for_training = table.rows() * 4 / 5;
    auto const rows = std::span{facts}.first(13 * for_training);
    cn::data::standardize_columns(facts, cn::data::statistics_of_columns(rows, 13));
    cn::data::dataset<cn::shape<1>, cn::shape<13>> const houses{facts, table.numbers(target)};

    cn::model<network, cn::policy::cpu, cn::batch<128>> model{cn::seed{42}};
    auto training = cn::compile(model, cn::mse, cn::adam{.learning_rate = 0.01}, cn::mae);
    training.fit(houses.take(for_training), {.epochs = epochs,
                                             .validation = houses.skip(for_training),
                                             .verbose = cn::verbosity::lines,
                                             .callbacks = {cn::tensorboard{"runs/houses"}}});
} catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
