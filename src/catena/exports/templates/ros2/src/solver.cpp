// A plugin of inverse_dynamics_solver, written by catena @VERSION@.
#include <algorithm>
#include <stdexcept>
#include <string>

#include <inverse_dynamics_solver/inverse_dynamics_solver.hpp>
#include <pluginlib/class_list_macros.hpp>

#include "@NAME@/@NAME@.hpp"

namespace @NAME@ {

class @CLASS@Solver : public inverse_dynamics_solver::InverseDynamicsSolver {
 public:
  void initialize(rclcpp::node_interfaces::NodeParametersInterface::ConstSharedPtr, const std::string&,
                  const std::string&) override {}

  Eigen::MatrixXd getInertiaMatrix(const Eigen::VectorXd& q) const override {
    const auto M = Dynamics::mass_matrix(taken(q));
    Eigen::MatrixXd out(Dynamics::size, Dynamics::size);
    for (std::size_t i = 0; i < Dynamics::size; ++i)
      for (std::size_t j = 0; j < Dynamics::size; ++j) out(i, j) = M[i * Dynamics::size + j];
    return out;
  }

  Eigen::VectorXd getCoriolisVector(const Eigen::VectorXd& q, const Eigen::VectorXd& v) const override {
    auto all = Dynamics::bias(taken(q), taken(v));
    const auto rest = Dynamics::gravity(taken(q));
    for (std::size_t i = 0; i < Dynamics::size; ++i) all[i] -= rest[i];
    return given(all);
  }

  Eigen::VectorXd getGravityVector(const Eigen::VectorXd& q) const override {
    return given(Dynamics::gravity(taken(q)));
  }

  Eigen::VectorXd getFrictionVector(const Eigen::VectorXd& v) const override {
    auto found = Dynamics::losses(taken(v));  // the forces on the joints
    for (auto& x : found) x = -x;
    return given(found);
  }

  Eigen::VectorXd getTorques(const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                             const Eigen::VectorXd& a) const override {
    return given(Dynamics::inverse_dynamics(taken(q), taken(v), taken(a)));
  }

 private:
  static Dynamics::Vector taken(const Eigen::VectorXd& x) {
    if (static_cast<std::size_t>(x.size()) != Dynamics::size)
      throw std::invalid_argument("@NAME@: a vector has " + std::to_string(x.size()) + " entries; the robot has " +
                                  std::to_string(Dynamics::size) + " joints");
    Dynamics::Vector out;
    std::copy(x.data(), x.data() + Dynamics::size, out.begin());
    return out;
  }

  static Eigen::VectorXd given(const Dynamics::Vector& x) {
    Eigen::VectorXd out(Dynamics::size);
    std::copy(x.begin(), x.end(), out.data());
    return out;
  }
};

}  // namespace @NAME@

PLUGINLIB_EXPORT_CLASS(@NAME@::@CLASS@Solver, inverse_dynamics_solver::InverseDynamicsSolver)
