// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import CommandOutput

/// The entries of a folder on an accessory.
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
  let document = DocumentKind.folder
  let device: DeviceDocument
  let path: String
  let entries: [Entry]
}

/// A folder that was made on an accessory, or an entry that was removed.
struct FolderChangeDocument: Encodable {
  enum Event: String, Encodable {
    case made, removed
  }

  let schema = DocumentSchema.name
  let document = DocumentKind.folderChange
  let event: Event
  let time = WallClock.seconds
  let device: DeviceDocument
  let path: String
}

/// A file that was transferred to or from an accessory.
struct TransferDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.transfer
  let event = "done"
  let time = WallClock.seconds
  let device: DeviceDocument
  let path, file: String
  let size_bytes: Int
  /// The file's MD5, for EV3 bricks.
  let md5: OrNull<String>
  /// For AF1 accessories, which verify the checksum: "firmware", "image" or "other", and the CRC-32/ISO-HDLC.
  let kind, crc32: OrNull<String>
  /// How often the transfer was interrupted and resumed.
  let resumptions: Int
}
