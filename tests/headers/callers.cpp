// Functions that call what runs once per file, epoch or program. A compiler must not take them for
// unlikely to be called, as g++ does with what always calls a cold function: it compiles for size.
#include <castnet/castnet.hpp>
#include <castnet/io/csv_table.hpp>
#include <castnet/io/tensor.hpp>

#include <cstdio>

namespace cn = castnet;

using matrix = cn::tensor<float, cn::shape<100, 4>>;
using classes = cn::tensor<std::size_t, cn::shape<100>>;
using network = cn::sequential<cn::input<4>, cn::dense<8>, cn::batch_norm, cn::relu, cn::dense<3>>;
using model = cn::model<network, cn::policy::cpu, cn::batch<16>>;

float random_numbers() {
    matrix const x = cn::random_normal<float, matrix::shape_type>(1);
    return cn::sum(cn::clip(x, -1.F, 1.F));
}

std::size_t random_order() {
    return cn::random_permutation<100>(1)[3];
}

matrix tensor_in(std::string const& file) {
    return cn::io::read_npy<matrix>(file) + 1;
}

double sum_in(std::string const& file) {
    double total = 0;
    for (double const x : cn::io::read_csv(file).numbers("x")) {
        total += x;
    }
    return total;
}

void train(model& m, matrix const& x, classes const& y, std::string const& file) {
    auto training = cn::compile(m, cn::cross_entropy, cn::adam{}, cn::accuracy);
    auto const data = cn::data::of_tensors<cn::data::label<3>>(x, y);
    cn::load(training, file);
    training.freeze("0");
    training.fit(data, {.epochs = 3, .validation = data}).save_csv(file);
    cn::save(training, file);
    std::puts(cn::summary(m).c_str());
}

float predict(model& m, matrix const& x, std::string const& file) {
    cn::load(m, file);
    return cn::sum(m.predict(x));
}
