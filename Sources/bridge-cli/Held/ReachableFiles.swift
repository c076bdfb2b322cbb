// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import CommandOutput

/// The files of an accessory that this process has open, or that a service holds.
protocol ReachableFiles: Sendable {
  /// The accessory.
  var document: DeviceDocument { get }
  func entries(of folder: String) async throws -> [FileEntry]
  func makeFolder(_ path: String) async throws
  func remove(_ path: String) async throws
}

/// The files of an accessory that this process has open.
struct OpenFiles: ReachableFiles {
  let opened: OpenedAccessory
  let files: any AccessoryFiles

  var document: DeviceDocument { DeviceDocument(opened.device) }
  func entries(of folder: String) async throws -> [FileEntry] { try await files.entries(of: folder) }
  func makeFolder(_ path: String) async throws { try await files.makeFolder(path) }
  func remove(_ path: String) async throws { try await files.remove(path) }
}

/// The result of a transfer.
struct TransferReport: Sendable {
  let device: DeviceDocument
  let resumptions: Int
  /// The MD5 that the accessory reports, where the caller is to compare it.
  let md5: String?
  /// The CRC-32 that the accessory has verified.
  let crc32: UInt32?
}

/// Shows the progress of a transfer.
struct TransferWatcher: Sendable {
  /// The accessory's name as the user typed it.
  let device: String
  /// How long an accessory that is gone is waited for.
  let patience: Duration
  let bar: ProgressBar

  /// The accessory is gone and is waited for.
  func interrupted() {
    bar.clear()
    Output.note("\(SafeText.escape(device)) is gone: waiting for it to come back")
  }
}
