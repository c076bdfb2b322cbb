// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// Files of an accessory, through its service.

extension BridgeDevice {
  /// What is in a folder.
  package func entries(of folder: String) async throws(AccessoryError) -> [Bridge.FolderEntry] {
    try await call(Bridge.ListFolder(device: path, path: folder)).entries
  }

  /// Makes a folder.
  package func makeFolder(_ folder: String) async throws(AccessoryError) {
    _ = try await call(Bridge.MakeFolder(device: path, path: folder))
  }

  /// Removes a file, or a folder that is empty.
  package func remove(_ file: String) async throws(AccessoryError) {
    _ = try await call(Bridge.Remove(device: path, path: file))
  }

  /// What has become of a file.
  package struct Carried: Sendable {
    /// The accessory, where the service tells it.
    package let device: Bridge.Device?
    /// Times that it was interrupted and went on where it had been.
    package let resumptions: Int
    /// What the accessory says the MD5 sum is, where that is to be compared.
    package var md5: String?
    /// The checksum that the accessory has compared.
    package var crc32: UInt32?
  }

  /// A step of a file that is got.
  package enum Getting: Sendable {
    /// The file has so many bytes; what came before is void.
    case begin(size: Int)
    /// Bytes that belong at an offset, which is at most what there is.
    case piece([UInt8], offset: Int)
    /// The accessory is gone, and is awaited.
    case interrupted
  }

  /// Gets a file of at most `limit` bytes. An accessory that goes is awaited for `patience`. `take` is given no more bytes
  /// than the size that it was told.
  package func get(
    _ file: String, limit: Int, patience: Duration, _ take: (Getting) async throws(AccessoryError) -> Void
  ) async throws(AccessoryError) -> Carried {
    let answers = try await stream(
      Bridge.GetFile(device: path, path: file, limit_bytes: limit, patience_ms: Self.milliseconds(patience)))
    var (size, count) = (0, 0)
    for try await answer in answers {
      switch answer.event {
      case .begin:
        (size, count) = (answer.size_bytes ?? 0, 0)
        guard (0...limit).contains(size) else { throw nonsense }
        try await take(.begin(size: size))
      case .piece:
        guard let bytes = answer.bytes, bytes.count <= size - count, let offset = answer.offset,
          (0...count).contains(offset)
        else { throw nonsense }
        count += bytes.count
        try await take(.piece(bytes, offset: offset))
      case .interrupted: try await take(.interrupted)
      case .done:
        guard count == size else { throw nonsense }
        return Carried(device: answer.device, resumptions: answer.resumptions ?? 0, md5: answer.md5)
      }
    }
    throw nonsense
  }

  /// A step of a file that is sent.
  package enum Sending: Sendable {
    /// So many bytes have arrived.
    case arrived(Int)
    /// The accessory is gone, and is awaited.
    case interrupted
  }

  /// Bytes that a service may want at a time; ours wants 8,192.
  private static let wantedLimit = 1 << 20

  /// Sends a file of `size` bytes. An accessory that goes is awaited for `patience`. `bytes` gives what is wanted of the
  /// file, always within it.
  package func send(
    to file: String, size: Int, kind: Bridge.SendFile.Kind?, crc32: UInt32?, patience: Duration,
    bytes: (_ offset: Int, _ count: Int) async throws(AccessoryError) -> [UInt8], _ note: (Sending) -> Void
  ) async throws(AccessoryError) -> Carried {
    let answers = try await stream(
      Bridge.SendFile(
        device: path, path: file, size_bytes: size, kind: kind, crc32: crc32, patience_ms: Self.milliseconds(patience)))
    for try await answer in answers {
      switch answer.event {
      case .wanted:
        let done = answer.done_bytes ?? 0
        guard let transfer = answer.transfer, let offset = answer.offset, let count = answer.count_bytes,
          (0...size).contains(offset), (1...Self.wantedLimit).contains(count), count <= size - offset,
          (0...size).contains(done)
        else { throw nonsense }
        note(.arrived(done))
        try await supply(Bridge.SupplyFile(transfer: transfer, offset: offset, bytes: bytes(offset, count)))
      case .interrupted: note(.interrupted)
      case .done:
        note(.arrived(size))
        var carried = Carried(device: answer.device, resumptions: answer.resumptions ?? 0)
        carried.crc32 = answer.crc32.flatMap { UInt32($0, radix: 16) }
        return carried
      }
    }
    throw nonsense
  }

  private func supply(_ piece: Bridge.SupplyFile) async throws(AccessoryError) {
    do throws(AccessoryError) {
      _ = try await call(piece)
    } catch {
      // The transfer has ended meanwhile: why, the next answer says.
      if error.kind != .misconfigured { throw error }
    }
  }

  private static func milliseconds(_ duration: Duration) -> Int { Int(duration / .milliseconds(1)) }
}
