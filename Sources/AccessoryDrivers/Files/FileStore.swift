// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

/// Where the bytes of a file come from that is sent.
public protocol FileSource: Sendable {
  /// Bytes in all.
  var count: Int { get }
  /// The bytes at an offset, as many as are wanted; both lie within `count`.
  func bytes(at offset: Int, count: Int) async throws(AccessoryError) -> [UInt8]
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
