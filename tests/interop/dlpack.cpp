// Tensors in memory that is shared by DLPack.
#include <castnet/tensor/dlpack.hpp>
#include <castnet/tensor/tensor.hpp>

#include <doctest/doctest.h>
#include <string>

namespace cn = castnet;

namespace {

using matrix = cn::tensor<float, cn::shape<2, 3>>;

// What from_dlpack says of a tensor.
template <class Tensor, class Managed>
std::string refused(Managed* from) {
    try {
        cn::from_dlpack<Tensor>(from);
    } catch (cn::error const& e) {
        return e.what();
    }
    return "";
}

template <class Managed>
void check_both_ways() {
    Managed* const given = cn::to_dlpack<Managed>(matrix::arange());
    DLTensor const& t = given->dl_tensor;
    CHECK(t.ndim == 2);
    CHECK(t.shape[1] == 3);
    CHECK(t.strides[0] == 3);
    CHECK(refused<cn::tensor<double, cn::shape<2, 3>>>(given) ==
          "castnet: from_dlpack: the tensor is float32 (2, 3), expected float64 (2, 3)");
    CHECK(refused<cn::tensor<float, cn::shape<3, 2>>>(given) ==
          "castnet: from_dlpack: the tensor is float32 (2, 3), expected float32 (3, 2)");
    CHECK(refused<cn::tensor<float, cn::shape<6>>>(given).find("expected float32 (6)") !=
          std::string::npos);
    auto taken = cn::from_dlpack<matrix>(given);
    auto const moved = std::move(taken);
    CHECK(cn::array_equal(moved.view(), matrix::arange()));
    CHECK(static_cast<void*>(moved.view().data()) == t.data);
}

} // namespace

TEST_CASE("tensors go to others and come back") {
    check_both_ways<DLManagedTensor>();
#ifdef DLPACK_MAJOR_VERSION
    check_both_ways<DLManagedTensorVersioned>();
    matrix const fixed;
    auto* const lent = cn::to_dlpack<DLManagedTensorVersioned>(fixed.view());
    CHECK(refused<matrix>(lent) == "castnet: from_dlpack: the elements are read-only; give a copy");
    lent->flags = 0;
    lent->version.major = 2;
    CHECK(refused<matrix>(lent) == "castnet: from_dlpack: the tensor is of version 2, expected 1");
    lent->deleter(lent);
#endif
}

TEST_CASE("views are lent") {
    matrix x = matrix::arange();
    DLManagedTensor* const lent = cn::to_dlpack(cn::transpose(x));
    CHECK(lent->dl_tensor.strides[0] == 1);
    CHECK(refused<cn::tensor<float, cn::shape<3, 2>>>(lent).find("row-major order") !=
          std::string::npos);
    lent->dl_tensor.device.device_type = kDLCUDA;
    CHECK(refused<cn::tensor<float, cn::shape<3, 2>>>(lent).find(
              "on device 0 of type 2, expected 1, the host") != std::string::npos);
    lent->deleter(lent);

    DLManagedTensor* const rows = cn::to_dlpack(x.view());
    {
        auto const again = cn::from_dlpack<matrix>(rows);
        again.view()(1, 2) = 7;
    }
    CHECK(x(1, 2) == 7);
}
