// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// Files on an accessory, through the service.

extension BridgeDevice {
  package func entries(of folder: String) async throws(AccessoryError) -> [FileEntry] {
    try await call(Bridge.ListFolder(device: name, path: folder)).entries
  }

  package func makeFolder(_ folder: String) async throws(AccessoryError) {
    _ = try await call(Bridge.MakeFolder(device: name, path: folder))
  }

  /// Removes a file or an empty folder.
  package func remove(_ file: String) async throws(AccessoryError) {
    _ = try await call(Bridge.Remove(device: name, path: file))
  }

  /// The result of a transfer.
  package struct TransferResult: Sendable {
    /// The accessory, if the service reports it.
    package let device: Device?
    /// How often the transfer was interrupted and resumed.
    package let resumptions: Int
    /// The file's MD5 from the accessory, if the caller must compare it.
    package var md5: String?
    /// The CRC-32 that the accessory has verified.
    package var crc32: UInt32?
  }

  /// A step of fetching a file.
  package enum GetStep: Sendable {
    /// The file has `size` bytes. Pieces received before are void.
    case begin(size: Int)
    /// The bytes at an offset, which is at most the number of bytes received so far.
    case piece([UInt8], offset: Int)
    /// The accessory is gone and is waited for.
    case interrupted
  }

  /// Fetches a file of at most `limit` bytes. An accessory that is unplugged is waited for up to `patience`. `take`
  /// never receives more bytes than the size in the last `begin`.
  package func get(
    _ file: String, limit: Int, patience: Duration, _ take: (GetStep) async throws(AccessoryError) -> Void
  ) async throws(AccessoryError) -> TransferResult {
    let answers = try await stream(
      Bridge.GetFile(device: name, path: file, limit_bytes: limit, patience_ms: Self.milliseconds(patience)))
    var (size, count) = (0, 0)
    for try await answer in answers {
      switch answer.event {
      case .begin:
        (size, count) = (answer.size_bytes ?? 0, 0)
        guard (0...limit).contains(size) else { throw invalidReplyError }
        try await take(.begin(size: size))
      case .piece:
        guard let bytes = answer.bytes, bytes.count <= size - count, let offset = answer.offset,
          (0...count).contains(offset)
        else { throw invalidReplyError }
        count += bytes.count
        try await take(.piece(bytes, offset: offset))
      case .interrupted: try await take(.interrupted)
      case .done:
        guard count == size else { throw invalidReplyError }
        return TransferResult(device: answer.device, resumptions: answer.resumptions ?? 0, md5: answer.md5)
      }
    }
    throw invalidReplyError
  }

  /// A step of sending a file.
  package enum SendStep: Sendable {
    /// This number of bytes has arrived at the accessory.
    case arrived(Int)
    /// The accessory is gone and is waited for.
    case interrupted
  }

  /// The greatest piece that a service may request, in bytes. Our service requests 8,192.
  private static let wantedLimit = 1 << 20

  /// Sends a file of `size` bytes. An accessory that is unplugged is waited for up to `patience`. `bytes` returns a
  /// requested piece, which is always within the file.
  package func send(
    to file: String, size: Int, kind: Bridge.SendFile.Kind?, crc32: UInt32?, patience: Duration,
    bytes: (_ offset: Int, _ count: Int) async throws(AccessoryError) -> [UInt8], _ note: (SendStep) -> Void
  ) async throws(AccessoryError) -> TransferResult {
    let answers = try await stream(
      Bridge.SendFile(
        device: name, path: file, size_bytes: size, kind: kind, crc32: crc32, patience_ms: Self.milliseconds(patience)))
    for try await answer in answers {
      switch answer.event {
      case .wanted:
        let done = answer.done_bytes ?? 0
        guard let transfer = answer.transfer, let offset = answer.offset, let count = answer.count_bytes,
          (0...size).contains(offset), (1...Self.wantedLimit).contains(count), count <= size - offset,
          (0...size).contains(done)
        else { throw invalidReplyError }
        note(.arrived(done))
        try await supply(Bridge.SupplyFile(transfer: transfer, offset: offset, bytes: bytes(offset, count)))
      case .interrupted: note(.interrupted)
      case .done:
        note(.arrived(size))
        var result = TransferResult(device: answer.device, resumptions: answer.resumptions ?? 0)
        result.crc32 = answer.crc32.flatMap { UInt32($0, radix: 16) }
        return result
      }
    }
    throw invalidReplyError
  }

  private func supply(_ piece: Bridge.SupplyFile) async throws(AccessoryError) {
    do throws(AccessoryError) {
      _ = try await call(piece)
    } catch {
      // The transfer has ended meanwhile; the next reply says why.
      if error.kind != .misconfigured { throw error }
    }
  }

  private static func milliseconds(_ duration: Duration) -> Int { duration.inMilliseconds }
}
