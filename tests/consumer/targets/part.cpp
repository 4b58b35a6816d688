// A part of a program whose parts are compiled for different targets: PART is its name, and GZIP
// says whether it can read compressed files.
#include <castnet/castnet.hpp>

namespace cn = castnet;

using mlp = cn::sequential<cn::input<2>, cn::dense<256>, cn::relu, cn::dense<2>>;

bool PART(char const* compressed) {
    auto const data = cn::data::blobs<2, 2>(256, 1);
    cn::model<mlp, cn::policy::cpu, cn::batch<32>> model{cn::seed{42}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    bool const learns =
        training.fit(data, {.epochs = 20, .verbose = cn::verbosity::silent})["accuracy"].back() >
        0.95;
    try {
        cn::data::mnist(compressed);
    } catch (cn::error const& wrong) {
        bool const unzips = std::string_view(wrong.what()).find("zlib") == std::string_view::npos;
        return learns && unzips == GZIP;
    }
    return false;
}
