// SPDX-License-Identifier: Apache-2.0

/// A place in the order in which `identify` tries kinds, for the probe of a driver in Swift.
package struct ProbePlace: Sendable, Hashable {
  /// What the probe's requests may do to an accessory of another kind. Those that do least are sent first.
  package enum Disturbance: Int, Sendable, Hashable {
    /// Nothing is sent: the kind sends by itself.
    case none
    /// No known effect on other kinds.
    case little
    /// They end a Bluetooth module's connection.
    case endsConnections
    /// They switch a modem to command mode for a moment.
    case switchesModes
  }

  let rate: UInt32
  let disturbance: Disturbance
  let form: String?

  /// A place at a baud rate. `form` names the form of the request, if the driver has more than one.
  package init(_ rate: UInt32, _ disturbance: Disturbance, form: String? = nil) {
    (self.rate, self.disturbance, self.form) = (rate, disturbance, form)
  }
}
