// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// The contents of a file to be sent.
public protocol FileSource: Sendable {
  /// The file's size in bytes.
  var count: Int { get }
  /// The CRC-32/ISO-HDLC of the whole file, if it is known without reading the file.
  var crc32: UInt32? { get }
  /// `count` bytes from `offset` on. The range must be within the file.
  func bytes(at offset: Int, count: Int) async throws(AccessoryError) -> [UInt8]
}

extension FileSource {
  /// The default: nil.
  public var crc32: UInt32? { nil }

  /// The CRC-32/ISO-HDLC of the whole file. Reads the file piece by piece, unless `crc32` is known. Throws what reading
  /// throws, and `cancelled`.
  public func checksum() async throws(AccessoryError) -> UInt32 {
    if let crc32 { return crc32 }
    var check = CRC32(.crc32ISOHDLC)
    var offset = 0
    while offset < count {
      if Task.isCancelled { throw AccessoryError(.cancelled, "reading the file was cancelled") }
      let piece = try await bytes(at: offset, count: min(1 << 18, count - offset))
      check.update(piece.span.bytes)
      offset += piece.count
    }
    return check.value
  }
}

/// A file on disk. It is read piece by piece, so it is never in memory as a whole. It stays open as long as this value
/// lives. Reads run on a setup queue.
public struct DiskFile: FileSource {
  private let file: ReadableFile
  private let queue: SetupQueue

  /// The file's size in bytes when it was opened.
  public var count: Int { file.size }

  /// Opens a regular file. Throws `notFound`, `permissionDenied`, and `unsupported` for anything but a regular file.
  public static func open(_ path: String) async throws(AccessoryError) -> DiskFile {
    let queue = SetupQueue(label: "file")
    return DiskFile(
      file: try await queue.run { () throws(AccessoryError) in try ReadableFile(path) }, queue: queue)
  }

  /// Opens a regular file, like `open`.
  @available(*, deprecated, renamed: "DiskFile.open(_:)")
  public init(_ path: String) async throws(AccessoryError) { self = try await Self.open(path) }

  private init(file: ReadableFile, queue: SetupQueue) {
    self.file = file
    self.queue = queue
  }

  /// `count` bytes from `offset` on. Throws `badData` when the file has become shorter, and the error of the system call.
  public func bytes(at offset: Int, count: Int) async throws(AccessoryError) -> [UInt8] {
    try await queue.run { [file] () throws(AccessoryError) in try file.read(offset..<(offset + count)) }
  }
}

/// Receives the contents of a file.
public protocol FileSink: Sendable {
  /// Starts a file of `size` bytes. Bytes that were inserted before are discarded.
  func begin(size: Int) async throws(AccessoryError)
  /// Inserts bytes at an offset, before any bytes that follow. The offset is the end, except for a piece that was missed.
  func insert(_ bytes: [UInt8], at offset: Int) async throws(AccessoryError)
}

/// A file in memory. Can be used from any thread.
public final class MemoryFile: FileSource, FileSink {
  private let contents: Locked<[UInt8]>

  /// A file with these bytes.
  public init(_ bytes: [UInt8] = []) { contents = Locked(bytes) }

  /// The file's contents.
  public var bytes: [UInt8] { contents.withLock { $0 } }

  /// The file's size in bytes.
  public var count: Int { contents.withLock { $0.count } }

  /// `count` bytes from `offset` on. Throws `badData` when the file is shorter.
  public func bytes(at offset: Int, count: Int) async throws(AccessoryError) -> [UInt8] {
    let piece = contents.withLock { bytes -> [UInt8]? in
      guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else { return nil }
      return Array(bytes[offset..<(offset + count)])
    }
    guard let piece else { throw AccessoryError(.badData, "the file is shorter than expected") }
    return piece
  }

  /// Discards the contents.
  public func begin(size: Int) async throws(AccessoryError) { contents.withLock { $0 = [] } }

  /// Inserts bytes at an offset. Throws `badData` when the offset is beyond the file's end.
  public func insert(_ bytes: [UInt8], at offset: Int) async throws(AccessoryError) {
    let isWithin = contents.withLock { contents -> Bool in
      guard (0...contents.count).contains(offset) else { return false }
      contents.insert(contentsOf: bytes, at: offset)
      return true
    }
    guard isWithin else { throw AccessoryError(.badData, "a piece of the file is beyond its end") }
  }
}
