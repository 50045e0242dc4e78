// Dynamics of @ROBOT@, written by catena @VERSION@. SI units; matrices by rows.
#ifndef @GUARD@_HPP
#define @GUARD@_HPP

#include <array>
#include <cstddef>

@INCLUDES@

namespace @NAME@ {

/** The dynamics as functions that allocate nothing. */
struct Dynamics {
  static constexpr std::size_t size = @N@;
  using Vector = std::array<double, size>;
  using Matrix = std::array<double, size * size>;

  /** The names of the joints, in the order of all vectors. */
  static constexpr std::array<const char*, size> joints = {{@JOINTS@}};

@METHODS@
};

}  // namespace @NAME@

#endif
