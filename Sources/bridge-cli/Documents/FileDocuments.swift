// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CommandOutput

/// The entries of a folder on an accessory.
struct FolderDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.folder
  let device: DeviceDocument
  let path: String
  let entries: [FileEntry]
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
  let md5: String?
  /// For AF1 accessories, which verify the checksum: "firmware", "image" or "other", and the CRC-32/ISO-HDLC.
  let kind, crc32: String?
  /// How often the transfer was interrupted and resumed.
  let resumptions: Int
}
