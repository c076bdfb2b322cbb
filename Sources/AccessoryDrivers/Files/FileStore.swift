// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// Where the bytes of a file come from that is sent.
public protocol FileSource: Sendable {
  /// Bytes in all.
  var count: Int { get }
  /// CRC-32/ISO-HDLC over all of it, where that is known without reading it.
  var crc32: UInt32? { get }
  /// The bytes at an offset, as many as are wanted; both lie within `count`.
  func bytes(at offset: Int, count: Int) async throws(AccessoryError) -> [UInt8]
}

extension FileSource {
  /// Not known.
  public var crc32: UInt32? { nil }

  /// CRC-32/ISO-HDLC over all of it, for which it is read piece by piece if need be. Throws what reading throws, and
  /// `cancelled`.
  public func checksum() async throws(AccessoryError) -> UInt32 {
    if let crc32 { return crc32 }
    var check = CRC32(.crc32ISOHDLC)
    var offset = 0
    while offset < count {
      if Task.isCancelled { throw AccessoryError(.cancelled, "the task was cancelled while the file was read") }
      let piece = try await bytes(at: offset, count: min(1 << 18, count - offset))
      check.update(piece.span.bytes)
      offset += piece.count
    }
    return check.value
  }
}

/// A file on disk, which is read as it is sent: it never lies in memory as a whole. Open for as long as this lives.
public struct DiskFile: FileSource {
  private let file: ReadableFile
  private let queue = SetupQueue(label: "file")

  /// Bytes of it when it was opened.
  public var count: Int { file.size }

  /// Opens an ordinary file. Throws `notFound`, `permissionDenied`, `unsupported` when it is something else.
  public init(_ path: String) async throws(AccessoryError) {
    file = try await queue.run { () throws(AccessoryError) in try ReadableFile(path) }
  }

  /// The bytes at an offset. Throws `badData` when it has become shorter, and what the system says.
  public func bytes(at offset: Int, count: Int) async throws(AccessoryError) -> [UInt8] {
    try await queue.run { [file] () throws(AccessoryError) in try file.read(offset..<(offset + count)) }
  }
}

/// Where the bytes of a file go that is got.
public protocol FileSink: Sendable {
  /// What came before is void; so many bytes will come.
  func begin(size: Int) async throws(AccessoryError)
  /// Puts bytes in at an offset, in front of what is there behind it: at the end, but for a piece that had been missed.
  func insert(_ bytes: [UInt8], at offset: Int) async throws(AccessoryError)
}

/// A file in memory.
public final class MemoryFile: FileSource, FileSink {
  private let contents: Locked<[UInt8]>

  /// A file of these bytes.
  public init(_ bytes: [UInt8] = []) { contents = Locked(bytes) }

  /// The bytes that there are.
  public var bytes: [UInt8] { contents.withLock { $0 } }

  /// Bytes that there are.
  public var count: Int { contents.withLock { $0.count } }

  /// The bytes at an offset. Throws `badData` when there are fewer.
  public func bytes(at offset: Int, count: Int) async throws(AccessoryError) -> [UInt8] {
    let piece = contents.withLock { bytes -> [UInt8]? in
      guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else { return nil }
      return Array(bytes[offset..<(offset + count)])
    }
    guard let piece else { throw AccessoryError(.badData, "the file ends before it should") }
    return piece
  }

  /// Empties it.
  public func begin(size: Int) async throws(AccessoryError) { contents.withLock { $0 = [] } }

  /// Puts bytes in. Throws `badData` when that is not within the file.
  public func insert(_ bytes: [UInt8], at offset: Int) async throws(AccessoryError) {
    let isWithin = contents.withLock { contents -> Bool in
      guard (0...contents.count).contains(offset) else { return false }
      contents.insert(contentsOf: bytes, at: offset)
      return true
    }
    guard isWithin else { throw AccessoryError(.badData, "a piece of the file lies behind its end") }
  }
}
