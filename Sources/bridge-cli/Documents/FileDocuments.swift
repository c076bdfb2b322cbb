// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import CommandOutput

/// What a folder of an accessory holds.
struct FolderDocument: Encodable {
  struct Entry: Encodable {
    let kind, name: String
    let size_bytes: OrNull<Int>
    let md5: OrNull<String>

    init(_ entry: FileEntry) {
      name = entry.name
      kind = entry.kind.rawValue
      (size_bytes, md5) = (OrNull(entry.size), OrNull(entry.md5))
    }
  }

  let schema = DocumentSchema.name
  let device: DeviceDocument
  let path: String
  let entries: [Entry]
}

/// A folder that was made in an accessory, or what was removed from it.
struct FolderChangeDocument: Encodable {
  enum Event: String, Encodable {
    case made, removed
  }

  let schema = DocumentSchema.name
  let event: Event
  let time = WallClock.seconds
  let device: DeviceDocument
  let path: String
}

/// A file that was carried to or from an accessory.
struct TransferDocument: Encodable {
  let schema = DocumentSchema.name
  let event = "done"
  let time = WallClock.seconds
  let device: DeviceDocument
  let path, file: String
  let size_bytes: Int
  /// Of bricks.
  let md5: OrNull<String>
  /// Of AF1 accessories, which compare it: "firmware", "image" or "other", and the checksum CRC-32/ISO-HDLC.
  let kind, crc32: OrNull<String>
  /// Times that it was interrupted and went on where it had been.
  let resumptions: Int
}
