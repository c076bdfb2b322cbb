// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryLink

/// An open device, and how it is to be shared.
public struct SharedDevice: Sendable {
  /// The open device. The hub takes it over.
  public var transport: any Transport
  /// The rules for sharing by frames; nil to share by bytes.
  public var routing: FrameRouting?
  /// The resets of the device's board, which the hub runs with exact times if `SharingRules.resets` is empty. The default is none.
  public var resets: [LineReset] = []
  /// Whether no client's bytes are sent to the device, whatever `SharingRules.writers` says. The default is false.
  public var isReadOnly = false
  /// The session that made the driver's opening exchange with the device. It must stay alive, because it closes the transport when it
  /// is released.
  public var session: AccessorySession?

  /// An open device that is shared by frames with the rules in `routing`, or by bytes if `routing` is nil.
  public init(_ transport: any Transport, routing: FrameRouting? = nil) {
    (self.transport, self.routing) = (transport, routing)
  }
}
