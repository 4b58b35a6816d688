// Tensors in .npy and safetensors files.
#include <castnet/io/tensor.hpp>
#include <castnet/tensor/tensor.hpp>

#include "hostile.hpp"

using namespace castnet;
using namespace castnet::testing;

using matrix = tensor<float, shape<2, 3>>;

TEST_CASE("tensors are read from .npy files as they were written") {
    temporary_directory const folder;
    matrix const x{{1, 2, 3}, {4, 5, 6}};
    io::write_npy(folder / "x.npy", x);
    CHECK(array_equal(io::read_npy<matrix>(folder / "x.npy"), x));
    io::write_npy(folder / "y.npy", transpose(x) * 2);
    CHECK(
        array_equal(io::read_npy<tensor<float, shape<3, 2>>>(folder / "y.npy"), transpose(x) * 2));
    io::write_npy(folder / "one.npy", tensor<std::int64_t, shape<>>(7));
    CHECK(io::read_npy<tensor<std::int64_t, shape<>>>(folder / "one.npy")() == 7);

    CHECK(refusal([&] { io::read_npy<tensor<float, shape<3, 2>>>(folder / "x.npy"); }) ==
          doctest::Contains("x.npy: the array is F32 (2, 3), expected F32 (3, 2)"));
    CHECK(refusal([&] { io::read_npy<tensor<double, shape<6>>>(folder / "x.npy"); }) ==
          doctest::Contains("x.npy: the array is F32 (2, 3), expected F64 (6)"));
}

TEST_CASE("tensors are read from safetensors files by name") {
    temporary_directory const folder;
    matrix const a{{1, 2, 3}, {4, 5, 6}};
    tensor<std::int64_t, shape<2>> const b{-1, 1};
    io::save_safetensors(folder / "x", std::vector{io::tensor_of("a", a), io::tensor_of("b", b)});
    auto const file = io::load_safetensors(folder / "x");
    CHECK(array_equal(io::read_tensor<matrix>(file, "a"), a));
    CHECK(array_equal(io::read_tensor<tensor<std::int64_t, shape<2>>>(file, "b"), b));
    CHECK(refusal([&] { io::read_tensor<matrix>(file, "b"); }) ==
          doctest::Contains("x: tensor \"b\" is I64 (2), expected F32 (2, 3)"));
    CHECK_THROWS_AS(io::read_tensor<matrix>(file, "c"), file_error);
}

TEST_CASE("any byte but 0 is true") {
    temporary_directory const folder;
    io::bytes const bytes{7, 0, 1};
    io::stored_tensor const stored{"t", io::dtype::boolean, {3}, bytes};
    io::save_safetensors(folder / "x", std::vector{stored});
    auto const truth =
        io::read_tensor<tensor<bool, shape<3>>>(io::load_safetensors(folder / "x"), "t");
    unsigned char held[3];
    std::memcpy(held, truth.data(), 3);
    CHECK(io::bytes(held, held + 3) == io::bytes{1, 0, 1});
}
