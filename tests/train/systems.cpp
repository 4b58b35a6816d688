// Gradients of systems of linear equations beside finite differences and PyTorch.
#include "derivatives.hpp"

using check::check_derivatives;

namespace {

cn::tensor<double, cn::shape<4, 3>> const a{
    {0.3, -0.2, 0.7}, {1.1, 0.4, -0.6}, {-0.9, 0.5, 0.2}, {0.1, -1.3, 0.8}};
cn::tensor<double, cn::shape<3>> const w{0.4, -1.2, 0.9};

} // namespace

TEST_CASE("systems of linear equations") {
    using square = cn::tensor<double, cn::shape<3, 3>>;
    using squares = cn::tensor<double, cn::shape<2, 3, 3>>;
    square const s{{2, 0.3, -0.4}, {-1.1, 1.5, 0.8}, {0.6, -0.2, -1.7}};
    check_derivatives(
        [](auto m) { return cn::sum(cn::sin(cn::cholesky(cn::matmul(m, cn::transpose(m))))); }, s);
    check_derivatives([](auto m, auto x) { return cn::norm(cn::solve(m, x)); }, s, w);
    check_derivatives([](auto x, auto m) { return cn::norm(cn::solve(m, x)); }, w, s);
    check_derivatives([](auto m, auto x) { return cn::norm(cn::solve(m, cn::transpose(x))); }, s,
                      a);
    check_derivatives([](auto m, auto x) { return cn::norm(cn::solve_lower_triangular(m, x)); }, s,
                      w);
    check_derivatives([](auto x, auto m) { return cn::norm(cn::solve_upper_triangular(m, x)); }, w,
                      s);
    check_derivatives([](auto m, auto x) { return cn::sum(cn::sin(cn::cholesky_solve(m, x))); }, s,
                      w);
    check_derivatives([](auto m) { return cn::norm(cn::inverse(m)); }, s);
    check_derivatives([](auto m) { return cn::sin(cn::determinant(m)); }, s);
    // Rows have to change places: the determinant of two exchanges, and of one.
    check_derivatives(
        [](auto m) { return cn::determinant(cn::roll<0>(m, 1)) - cn::determinant(m); }, s);
    check_derivatives([](auto m, auto x) { return cn::norm(cn::solve(cn::roll<0>(m, 1), x)); }, s,
                      w);

    squares const both = cn::stack<0>(s, cn::flip<0>(s));
    auto const vectors = cn::random_normal<double, cn::shape<2, 3>>(3);
    check_derivatives([](auto m) { return cn::norm(cn::determinant(m)); }, both);
    check_derivatives([](auto m, auto x) { return cn::sum(cn::sin(cn::solve(m, x))); }, both,
                      vectors);
    check_derivatives([](auto m, auto b) { return cn::sum(cn::sin(cn::solve(m, cn::square(b)))); },
                      both, both);
    check_derivatives([](auto m, auto x) { return cn::sum(cn::sin(cn::cholesky_solve(m, x))); },
                      squares(both + 2 * square::eye()), vectors);
    check_derivatives(
        [](auto m) { return cn::sum(cn::exp(cn::tril<-1>(m)) + cn::square(cn::triu(m))); }, both);
    check_derivatives([](auto m, auto x) { return cn::sum(cn::sin(cn::cross(x, m))); }, a, w);
    check_derivatives([](auto m) { return cn::norm(cn::diff(m)) * cn::norm(cn::diff<0>(m)); }, a);
    check_derivatives([](auto m, auto b) { return cn::sum(cn::sin(cn::kron(m, b))); }, s, a);

    // Nothing is thrown where there is no factor or inverse.
    CHECK(std::isnan(
        cn::value_and_grad([](auto m) { return cn::sum(cn::cholesky(m)); }, square(-square::eye()))
            .value));
    CHECK(
        !std::isfinite(cn::value_and_grad([](auto m, auto x) { return cn::norm(cn::solve(m, x)); },
                                          square::zeros(), w)
                           .value));
    CHECK(cn::value_and_grad([](auto m) { return cn::determinant(m); }, square::ones()).value == 0);
}

// See systems_golden.py.
TEST_CASE("gradients of systems of linear equations are those of PyTorch") {
    using six = cn::tensor<double, cn::shape<6>>;
    using squares = cn::tensor<double, cn::shape<2, 3, 3>>;
    auto const likelihood = [](auto log_length, auto log_noise, auto x, auto y) {
        auto const distance = (cn::expand_dims<1>(x) - x) * cn::exp(-log_length);
        auto const noise = cn::diag(cn::exp(log_noise) + 0 * x);
        auto const factor = cn::cholesky(cn::exp(-0.5 * cn::square(distance)) + noise);
        auto const half = cn::solve_lower_triangular(factor, y);
        return 0.5 * cn::dot(half, half) + cn::sum(cn::log(cn::diagonal(factor)));
    };
    six const x = 3 * cn::cos(six::arange()), y = cn::sin(x);
    auto const [value, slopes] = cn::value_and_grad<0, 1, 2, 3>(likelihood, 0.2, -1.0, x, y);
    auto const& [by_log_length, by_log_noise, by_x, by_y] = slopes;
    CHECK(value == doctest::Approx(1.1068241015293612).epsilon(1e-13));
    CHECK(by_log_length == doctest::Approx(-0.4983655975955351).epsilon(1e-12));
    CHECK(by_log_noise == doctest::Approx(1.0932731209699804).epsilon(1e-12));
    CHECK(cn::allclose(by_x,
                       six{0.08278508786358633, 0.20596792362934022, 0.3645573412396526,
                           -0.106847802155589, -0.1845645850235758, -0.3618979655534144},
                       1e-12, 1e-13));
    CHECK(cn::allclose(by_y,
                       six{-0.1956727419848505, 0.6544718381479978, -0.5307292636784267,
                           0.28705464189179364, -0.5200539175452158, 0.30173676101957053},
                       1e-12, 1e-13));

    squares const matrices = cn::sin(squares::arange()), weights = cn::cos(squares::arange());
    squares const definite =
        cn::einsum<"bij,bkj->bik">(matrices, matrices) + cn::tensor<double, cn::shape<3, 3>>::eye();
    auto const check_slope = [&](auto const& f, squares const& expected) {
        CHECK(cn::allclose(cn::grad(f, definite, weights), expected, 1e-12, 1e-13));
    };
    check_slope([](auto m, auto by) { return cn::sum(cn::cholesky(m) * by); },
                {{{-0.3040869053164236, -0.5580025364650807, 0.4991517869330219},
                  {-0.5580025364650806, -0.1521612385144644, 0.27319234066753245},
                  {0.499151786933022, 0.27319234066753245, -0.061104237444475705}},
                 {{0.3107153271779583, 0.6210598528269223, -0.4235202227749385},
                  {0.6210598528269223, 0.19699898360866322, -0.42215770268888836},
                  {-0.42352022277493856, -0.42215770268888836, -0.11557714943193473}}});
    check_slope([](auto m, auto by) { return cn::sum(cn::square(cn::solve(m, by))); },
                {{{-0.05970668680372111, 0.010291532620172324, 0.03932960665874244},
                  {0.01638940154245675, -0.018161818913197857, 0.019570727354907114},
                  {0.027255917702113164, 0.025668596277191515, -0.07807935312748457}},
                 {{-0.06144689755972775, 0.014569079752111221, 0.032600338285800584},
                  {0.01960008044612514, -0.021151332536548384, 0.022279240562442394},
                  {0.02263903241086976, 0.02731024125645632, -0.07671290025934913}}});
    check_slope([](auto m, auto by) { return cn::sum(cn::inverse(m) * by); },
                {{{-0.18051005767275546, -0.014872245399029926, 0.16753382595961785},
                  {0.17148056946217657, 0.12258189468534578, -0.04751720472586776},
                  {-0.1590188964878969, -0.22783806651608668, -0.07345047368354515}},
                 {{0.2130205326453275, 0.11283252419166329, -0.09917152907908916},
                  {-0.15223465759288696, -0.17558414048111654, -0.026780962149157053},
                  {0.08840180483366467, 0.23482143900502445, 0.15219743223790116}}});
    check_slope([](auto m, auto) { return cn::sum(cn::exp(cn::determinant(m) / 4)); },
                {{{4.31159281660949, 1.7023152146775704, -1.5004208276208801},
                  {1.7023152146775706, 4.474811137540893, 1.6773596417350234},
                  {-1.5004208276208804, 1.6773596417350234, 4.36100447653246}},
                 {{3.9805731798284283, 1.552188500878807, -1.361904400964237},
                  {1.5521885008788068, 4.133354242513456, 1.5338645690821424},
                  {-1.3619044009642365, 1.5338645690821426, 4.016854289802261}}});
}
