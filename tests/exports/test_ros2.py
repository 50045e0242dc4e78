"""The ROS 2 package, compiled against stubs of the headers of ROS and Eigen: neither is installed
here.
"""

import shutil
import subprocess

import numpy as np
import pytest

import catena
from catena.errors import CompileError
from catena.exports.ros2 import package, write_package

STUBS = {
    "inverse_dynamics_solver/inverse_dynamics_solver.hpp": """
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>
namespace Eigen {
class VectorXd {
  std::vector<double> x_;
 public:
  explicit VectorXd(std::size_t n) : x_(n) {}
  std::size_t size() const { return x_.size(); }
  double* data() { return x_.data(); }
  const double* data() const { return x_.data(); }
};
class MatrixXd {
  std::vector<double> x_;
  std::size_t columns_;
 public:
  MatrixXd(std::size_t n, std::size_t m) : x_(n * m), columns_(m) {}
  double& operator()(std::size_t i, std::size_t j) { return x_[i * columns_ + j]; }
};
}
namespace rclcpp { namespace node_interfaces {
struct NodeParametersInterface {
  using ConstSharedPtr = std::shared_ptr<const NodeParametersInterface>;
};
} }
namespace inverse_dynamics_solver {
class InverseDynamicsSolver {
  using V = Eigen::VectorXd;

 public:
  virtual ~InverseDynamicsSolver() {}
  using P = rclcpp::node_interfaces::NodeParametersInterface::ConstSharedPtr;
  virtual void initialize(P p = nullptr, const std::string& n = "", const std::string& r = "") = 0;
  virtual Eigen::MatrixXd getInertiaMatrix(const Eigen::VectorXd&) const = 0;
  virtual Eigen::VectorXd getCoriolisVector(const V&, const V&) const = 0;
  virtual Eigen::VectorXd getGravityVector(const Eigen::VectorXd&) const = 0;
  virtual Eigen::VectorXd getFrictionVector(const Eigen::VectorXd&) const = 0;
  virtual Eigen::VectorXd getTorques(const Eigen::VectorXd&, const Eigen::VectorXd&,
                                     const Eigen::VectorXd&) const = 0;
};
}
""",
    "pluginlib/class_list_macros.hpp": """
#pragma once
#define PLUGINLIB_EXPORT_CLASS(derived, base) \\
  base* made() { return new derived(); }
""",
}
MAIN = """
#include <cstdio>
#include <inverse_dynamics_solver/inverse_dynamics_solver.hpp>
inverse_dynamics_solver::InverseDynamicsSolver* made();
int main() {
  auto* solver = made();
  solver->initialize();
  Eigen::VectorXd q(2), v(2), a(2);
  for (int k = 0; k < 2; ++k) {
    q.data()[k] = 0.3 + k;
    v.data()[k] = 0.5 - k;
    a.data()[k] = 1.0 + k;
  }
  for (const auto& x : {solver->getTorques(q, v, a), solver->getCoriolisVector(q, v),
                        solver->getGravityVector(q), solver->getFrictionVector(v)})
    std::printf("%.17g %.17g ", x.data()[0], x.data()[1]);
  auto M = solver->getInertiaMatrix(q);
  std::printf("%.17g %.17g %.17g %.17g", M(0, 0), M(0, 1), M(1, 0), M(1, 1));
}
"""


@pytest.mark.skipif(not (shutil.which("g++") and shutil.which("gcc")), reason="no C++ compiler")
def test_package_answers_the_interface_of_inverse_dynamics_solver(tmp_path):
    arm = catena.compile(catena.load("two_link_arm"))
    written = write_package(arm, tmp_path)
    folder = tmp_path / "two_link_arm_dynamics"
    assert {p.name for p in written} >= {"package.xml", "CMakeLists.txt", "plugins.xml"}
    assert not any("@" in p.read_text().replace("user@example", "") for p in written)
    for name, text in STUBS.items():
        path = tmp_path / "stubs" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    (folder / "main.cpp").write_text(MAIN)

    def run(*words):
        return subprocess.run(words, cwd=folder, check=True, capture_output=True)

    own = ["-Iinclude", "-I../stubs", "-Wall", "-Wextra", "-Werror", "-O1"]
    run("gcc", "-std=c99", *own, "-c", *map(str, folder.glob("src/kernels/*.c")))
    objects = [str(p) for p in folder.glob("*.o")]
    run("g++", "-std=c++17", *own, "main.cpp", "src/solver.cpp", *objects, "-lm", "-o", "main")
    found = np.array(run("./main").stdout.split(), float)
    q, v, a = np.array([0.3, 1.3]), np.array([0.5, -0.5]), np.array([1.0, 2.0])
    expected = [
        arm.inverse_dynamics(q, v, a),
        arm.bias(q, v) - arm.gravity(q),
        arm.gravity(q),
        -arm.losses(v),
        arm.mass_matrix(q).ravel(),
    ]
    assert np.abs(found - np.concatenate(expected)).max() < 1e-12


def test_what_no_solver_takes_is_refused():
    with pytest.raises(CompileError, match="closed loops"):
        package(catena.load("four_bar"))


def test_command_line_writes_a_package(tmp_path, capsys):
    from catena.cli import main

    with pytest.raises(SystemExit) as end:
        main(["export", "two_link_arm", "--to", "ros2", "--out", str(tmp_path)])
    assert not end.value.code and (tmp_path / "two_link_arm_dynamics" / "plugins.xml").is_file()
