// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import BridgeService

// Files, through the service.

extension HeldDevice: ReachableFiles {
  var document: DeviceDocument { DeviceDocument(accessory.device) }

  func entries(of folder: String) async throws -> [FileEntry] {
    try await call(Bridge.ListFolder(device: name, path: folder)).entries.map { FileEntry($0) }
  }

  func makeFolder(_ path: String) async throws { _ = try await call(Bridge.MakeFolder(device: name, path: path)) }

  func remove(_ path: String) async throws { _ = try await call(Bridge.Remove(device: name, path: path)) }

  func get(_ path: String, into file: MemoryFile, _ watcher: TransferWatcher) async throws -> Carried {
    let answers = try await stream(
      Bridge.GetFile(
        device: name, path: path, limit_bytes: LocalFile.limit, patience_ms: milliseconds(watcher.patience)))
    var size = 0
    do {
      for try await answer in answers {
        switch answer.event {
        case .begin:
          size = answer.size_bytes ?? 0
          guard (0...LocalFile.limit).contains(size) else { throw nonsense }
          try await file.begin(size: size)
        case .piece:
          guard let bytes = answer.bytes, file.count + bytes.count <= size else { throw nonsense }
          guard let offset = answer.offset else { throw nonsense }
          try await file.insert(bytes, at: offset)
        case .interrupted:
          watcher.interrupted()
          continue
        case .done:
          guard file.count == size else { throw nonsense }
          return Carried(
            device: answer.device.map { DeviceDocument($0) } ?? document, resumptions: answer.resumptions ?? 0,
            md5: answer.md5, crc32: nil)
        }
        watcher.bar.show(file.count, size)
      }
    } catch let error as ControlError {
      throw failure(error)
    }
    throw nonsense
  }

  func send(_ file: DiskFile, to path: String, as kind: FileKind?, _ watcher: TransferWatcher) async throws -> Carried {
    let answers = try await stream(
      Bridge.SendFile(
        device: name, path: path, size_bytes: file.count,
        kind: kind.flatMap { Bridge.SendFile.Kind(rawValue: $0.rawValue) }, crc32: try await file.checksum(),
        patience_ms: milliseconds(watcher.patience)))
    do {
      for try await answer in answers {
        switch answer.event {
        case .wanted:
          let done = answer.done_bytes ?? 0
          guard let transfer = answer.transfer, let offset = answer.offset, let count = answer.count_bytes,
            (0...file.count).contains(offset), (1...Self.wantedLimit).contains(count), count <= file.count - offset,
            (0...file.count).contains(done)
          else { throw nonsense }
          watcher.bar.show(done, file.count)
          let bytes = try await file.bytes(at: offset, count: count)
          do {
            _ = try await call(Bridge.SupplyFile(transfer: transfer, offset: offset, bytes: bytes))
          } catch let error as AccessoryError where error.kind == .misconfigured {
            // The transfer has ended meanwhile: why, the next answer says.
          }
        case .interrupted: watcher.interrupted()
        case .done:
          watcher.bar.show(file.count, file.count)
          return Carried(
            device: answer.device.map { DeviceDocument($0) } ?? document, resumptions: answer.resumptions ?? 0,
            md5: nil, crc32: answer.crc32.flatMap { UInt32($0, radix: 16) })
        }
      }
    } catch let error as ControlError {
      throw failure(error)
    }
    throw nonsense
  }

  /// Bytes that a service may want at a time; ours wants 8,192.
  private static let wantedLimit = 1 << 20

  /// A call with many answers takes its connection for itself.
  private func stream<Method: ControlMethod>(_ method: Method) async throws -> ReplyStream<Method> {
    let client = try await ControlClient.connect(to: place)
    do throws(ControlError) {
      return try client.stream(method)
    } catch {
      throw failure(error)
    }
  }

  private func milliseconds(_ duration: Duration) -> Int { Int(duration / .milliseconds(1)) }
}
