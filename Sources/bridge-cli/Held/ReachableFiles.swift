// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import CommandOutput

/// An accessory's files, be the accessory open here or held by a service.
protocol ReachableFiles: Sendable {
  /// Which accessory it is.
  var document: DeviceDocument { get }
  func entries(of folder: String) async throws -> [FileEntry]
  func makeFolder(_ path: String) async throws
  func remove(_ path: String) async throws
}

/// Files of an accessory that is open here.
struct OpenFiles: ReachableFiles {
  let opened: OpenedAccessory
  let files: any AccessoryFiles

  var document: DeviceDocument { DeviceDocument(opened.device) }
  func entries(of folder: String) async throws -> [FileEntry] { try await files.entries(of: folder) }
  func makeFolder(_ path: String) async throws { try await files.makeFolder(path) }
  func remove(_ path: String) async throws { try await files.remove(path) }
}

/// What has become of a transfer.
struct Carried: Sendable {
  let device: DeviceDocument
  let resumptions: Int
  /// What the accessory says the file's sum is, where that is to be compared.
  let md5: String?
  /// The checksum that the accessory has compared.
  let crc32: UInt32?
}

/// Shows a person how far a transfer is.
struct TransferWatcher: Sendable {
  /// As the user called it.
  let device: String
  /// How long an accessory that went away is waited for.
  let patience: Duration
  let bar: ProgressBar

  /// The accessory is gone, and is awaited.
  func interrupted() {
    bar.clear()
    Output.note("\(SafeText.escape(device)) is gone: waiting for it to come back")
  }
}
