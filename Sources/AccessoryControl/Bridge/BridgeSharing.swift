// SPDX-License-Identifier: Apache-2.0

// The method `Share` of `accessorybridge.Bridge`: sharing an accessory's bytes with other clients.

extension Bridge {
  /// The access that a client asks for.
  package enum ShareAccess: String, Codable, Sendable, Hashable {
    /// The client gets the accessory's bytes. Bytes that it sends are discarded.
    case read
    /// The client also sends bytes to the accessory.
    case write
  }

  /// The unit in which clients share an accessory.
  package enum ShareUnit: String, Codable, Sendable, Hashable {
    /// Bytes, without regard to the protocol's frames.
    case bytes
    /// Whole frames: each reply goes to the client that asked.
    case frames
  }

  package struct Share: ControlMethod {
    package static let method = "accessorybridge.Bridge.Share"
    package typealias Reply = Open.Reply

    package var device: String?
    package var access: ShareAccess
    package var by: ShareUnit?
    package var write: Bool?

    package init(device: String? = nil, access: ShareAccess, by unit: ShareUnit = .bytes, write: Bool = false) {
      self.device = device
      self.access = access
      // Left out for bytes, so that services which only know these need not read it.
      self.by = unit == .bytes ? nil : unit
      self.write = write ? true : nil
    }
  }
}
