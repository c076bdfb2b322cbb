// SPDX-License-Identifier: Apache-2.0

@_exported import AccessorySimulator
@_exported import FamilyAF1Simulator
@_exported import FamilyBlunoSimulator
@_exported import FamilyEV3Simulator
@_exported import FamilyHIDPowerSimulator
@_exported import FamilyHM10Simulator
@_exported import FamilyHM1XSimulator
@_exported import FamilyMAVLinkSimulator

/// The kinds of accessories in Swift that can be simulated.
package enum SimulatorKinds {
  /// Those that come with this package, in the order of the help. This is the one list of the families' simulators.
  package static let builtIn: [any SimulatedKind.Type] = [
    AF1Kind.self, EV3Kind.self, HM10Kind.self, BlunoKind.self, HM1XKind.self, MAVLinkKind.self, UPSKind.self,
  ]
}
