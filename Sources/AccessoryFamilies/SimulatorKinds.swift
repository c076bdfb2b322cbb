// SPDX-License-Identifier: Apache-2.0

import AccessorySimulator

/// The kinds of accessories in Swift that can be simulated.
package enum SimulatorKinds {
  /// Those that come with this package, in the order of the help. This is the one list of the families' simulators.
  package static let builtIn: [any SimulatedKind.Type] = [
    AF1Kind.self, EV3Kind.self, HM10Kind.self, BlunoKind.self, HM1XKind.self, MAVLinkKind.self, UPSKind.self,
  ]
}
