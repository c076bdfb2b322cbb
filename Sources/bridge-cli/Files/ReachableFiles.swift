// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryCore
import AccessoryDrivers
import CommandOutput

/// The files of an accessory that is in use.
struct ReachableFiles: Sendable {
  let opened: AccessoryInUse
  let files: any AccessoryFiles

  var document: DeviceDocument { DeviceDocument(opened.device) }
}

/// The result of a transfer.
struct TransferReport: Sendable {
  let device: DeviceDocument
  let resumptions: Int
  /// The MD5 from the accessory, if the caller must compare it.
  let md5: String?
  /// The CRC-32 that the accessory has verified.
  let crc32: UInt32?
}

/// Shows the progress of a transfer.
struct TransferWatcher: Sendable {
  /// The accessory's name as the user typed it.
  let device: String
  let bar: ProgressBar

  /// The accessory is gone and is waited for.
  func interrupted() {
    bar.clear()
    Output.note("\(SafeText.escape(device)) is gone: waiting for it to come back")
  }
}
