// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// Files on accessories.

extension Bridge {
  package struct ListFolder: ControlMethod {
    package static let method = "accessorybridge.Bridge.ListFolder"

    package struct Reply: Codable, Sendable, Hashable {
      package var device: Device
      package var entries: [FileEntry]

      package init(device: Device, entries: [FileEntry]) {
        self.device = device
        self.entries = entries
      }
    }

    package var device: String?
    package var path: String

    package init(device: String? = nil, path: String) {
      self.device = device
      self.path = path
    }
  }

  package struct MakeFolder: ControlMethod {
    package static let method = "accessorybridge.Bridge.MakeFolder"
    package typealias Reply = DeviceReply

    package var device: String?
    package var path: String

    package init(device: String? = nil, path: String) {
      self.device = device
      self.path = path
    }
  }

  package struct Remove: ControlMethod {
    package static let method = "accessorybridge.Bridge.Remove"
    package typealias Reply = DeviceReply

    package var device: String?
    package var path: String

    package init(device: String? = nil, path: String) {
      self.device = device
      self.path = path
    }
  }

  package struct GetFile: ControlMethod {
    package static let method = "accessorybridge.Bridge.GetFile"

    package enum EventName: String, Codable, Sendable, Hashable, CaseIterable {
      case begin, piece, interrupted, done
    }

    package struct Reply: Codable, Sendable, Hashable {
      package var event: EventName
      package var size_bytes, offset: Int?
      package var bytes_hex: String?
      package var device: Device?
      package var resumptions: Int?
      package var md5: String?

      package init(_ event: EventName, size_bytes: Int? = nil) {
        self.event = event
        self.size_bytes = size_bytes
      }

      /// A piece at `offset`.
      package init(_ bytes: [UInt8], at offset: Int) {
        event = .piece
        self.offset = offset
        bytes_hex = Hexadecimal.string(bytes)
      }

      /// The bytes of a piece; nil when there are none, or when the text isn't hexadecimal.
      package var bytes: [UInt8]? { bytes_hex.flatMap { Hexadecimal.bytes($0) } }
    }

    package var device: String?
    package var path: String
    package var limit_bytes, patience_ms: Int?

    package init(device: String? = nil, path: String, limit_bytes: Int? = nil, patience_ms: Int? = nil) {
      self.device = device
      self.path = path
      self.limit_bytes = limit_bytes
      self.patience_ms = patience_ms
    }
  }

  package struct SendFile: ControlMethod {
    package static let method = "accessorybridge.Bridge.SendFile"

    package enum EventName: String, Codable, Sendable, Hashable, CaseIterable {
      case wanted, interrupted, done
    }

    package struct Reply: Codable, Sendable, Hashable {
      package var event: EventName
      package var transfer: String?
      package var offset, count_bytes, done_bytes: Int?
      package var device: Device?
      package var resumptions: Int?
      package var crc32: String?

      package init(_ event: EventName) { self.event = event }
    }

    package var device: String?
    package var path: String
    package var size_bytes: Int
    package var kind: Kind?
    package var crc32: String?
    package var patience_ms: Int?

    package enum Kind: String, Codable, Sendable, Hashable, CaseIterable {
      case firmware, image, other
    }

    package init(
      device: String? = nil, path: String, size_bytes: Int, kind: Kind? = nil, crc32: UInt32? = nil,
      patience_ms: Int? = nil
    ) {
      self.device = device
      self.path = path
      self.size_bytes = size_bytes
      self.kind = kind
      self.crc32 = crc32.map { Hexadecimal.string($0) }
      self.patience_ms = patience_ms
    }
  }

  package struct SupplyFile: ControlMethod {
    package static let method = "accessorybridge.Bridge.SupplyFile"
    package typealias Reply = Done

    package var transfer: String
    package var offset: Int
    package var bytes_hex: String

    package init(transfer: String, offset: Int, bytes: [UInt8]) {
      self.transfer = transfer
      self.offset = offset
      bytes_hex = Hexadecimal.string(bytes)
    }

    /// The bytes; nil when the text isn't hexadecimal. The server rejects such a call before a handler sees it.
    package var bytes: [UInt8]? { Hexadecimal.bytes(bytes_hex) }
  }
}
