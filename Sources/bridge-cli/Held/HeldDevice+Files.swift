// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import CommandOutput

// Files of an accessory that the service holds.

extension HeldDevice: ReachableFiles {
  var document: DeviceDocument { DeviceDocument(accessory.device) }

  func entries(of folder: String) async throws -> [FileEntry] {
    try await calls.entries(of: folder).map { FileEntry($0) }
  }

  func makeFolder(_ path: String) async throws { try await calls.makeFolder(path) }

  func remove(_ path: String) async throws { try await calls.remove(path) }

  func get(_ path: String, into file: MemoryFile, _ watcher: TransferWatcher) async throws -> TransferReport {
    var size = 0
    let result = try await calls.get(path, limit: LocalFile.limit, patience: watcher.patience) {
      step throws(AccessoryError) in
      switch step {
      case .begin(let count):
        size = count
        try await file.begin(size: size)
      case .piece(let bytes, let offset): try await file.insert(bytes, at: offset)
      case .interrupted: return watcher.interrupted()
      }
      watcher.bar.show(file.count, size)
    }
    return report(result)
  }

  func send(_ file: DiskFile, to path: String, as kind: FileKind?, _ watcher: TransferWatcher) async throws
    -> TransferReport
  {
    let result = try await calls.send(
      to: path, size: file.count, kind: kind.flatMap { Bridge.SendFile.Kind(rawValue: $0.rawValue) },
      crc32: try await file.checksum(), patience: watcher.patience
    ) { offset, count throws(AccessoryError) in
      try await file.bytes(at: offset, count: count)
    } _: { step in
      switch step {
      case .arrived(let count): watcher.bar.show(count, file.count)
      case .interrupted: watcher.interrupted()
      }
    }
    return report(result)
  }

  private func report(_ result: BridgeDevice.TransferResult) -> TransferReport {
    TransferReport(
      device: result.device.map { DeviceDocument($0) } ?? document, resumptions: result.resumptions,
      md5: result.md5, crc32: result.crc32)
  }
}
