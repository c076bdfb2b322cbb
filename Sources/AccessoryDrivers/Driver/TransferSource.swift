// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols

/// What is to be sent to an accessory, read piece by piece where it lies.
public protocol TransferSource: Sendable {
  /// Bytes of it.
  var size: Int { get }
  /// Reads a part. Throws `badData` when it has become shorter, and what the system says.
  func read(_ range: Range<Int>) async throws(AccessoryError) -> [UInt8]
}

extension TransferSource {
  /// CRC-32/ISO-HDLC over all of it.
  public func checksum() async throws(AccessoryError) -> UInt32 {
    var check = CRC32(.crc32ISOHDLC)
    var offset = 0
    while offset < size, !Task.isCancelled {
      let piece = try await read(offset..<min(size, offset + 1 << 18))
      check.update(piece.span.bytes)
      offset += piece.count
    }
    return check.value
  }
}

/// Bytes in memory.
public struct MemorySource: TransferSource {
  private let bytes: [UInt8]
  /// Bytes of it.
  public var size: Int { bytes.count }

  /// These bytes.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads a part.
  public func read(_ range: Range<Int>) async throws(AccessoryError) -> [UInt8] { Array(bytes[range]) }
}

/// A file on disk, which is read as it is sent: it never lies in memory as a whole. Open for as long as this lives.
public struct FileSource: TransferSource {
  private let file: ReadableFile
  private let queue = SetupQueue(label: "file")
  /// Bytes of it when it was opened.
  public var size: Int { file.size }

  /// Opens an ordinary file. Throws `notFound`, `permissionDenied`, `unsupported` when it is something else.
  public init(_ path: String) async throws(AccessoryError) {
    file = try await queue.run { () throws(AccessoryError) in try ReadableFile(path) }
  }

  /// Reads a part.
  public func read(_ range: Range<Int>) async throws(AccessoryError) -> [UInt8] {
    try await queue.run { [file] () throws(AccessoryError) in try file.read(range) }
  }
}
