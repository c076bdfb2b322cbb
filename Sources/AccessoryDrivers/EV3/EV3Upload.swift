// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// A file on its way from a brick, which may go on after an interruption.
///
/// A brick reads on from where it was, and nobody can tell it where that is: when the answer that was lost had been read,
/// a piece is missing, which shows at the end by the count. It is then read once more from the beginning, up to that
/// piece. What has come together in parts is compared with the brick's own sum of the file.
public struct EV3Upload: Sendable {
  /// Where it comes from.
  public let path: String
  /// Bytes that are taken at most.
  public let limit: Int
  /// Bytes in all; nil before it begins.
  public private(set) var size: Int?
  /// The file, when all of it has come.
  public private(set) var result: [UInt8]?
  /// Times that it went on where it had been.
  public private(set) var resumptions = 0
  /// Bytes that have come.
  public var done: Int { bytes.count }

  private var handle: UInt8?
  private var bytes: [UInt8] = []
  /// Where a piece may be missing, and how long that would be.
  private var gaps: [(offset: Int, count: Int)] = []
  private var isAtEnd = false
  private static let piece = EV3Limits.uploadPiece

  /// A file to be got, of at most `limit` bytes.
  public init(_ path: String, limit: Int = 64 << 20) {
    self.path = path
    self.limit = limit
  }

  /// Gets what is missing, and gives the whole file. When this throws, it can be called again, also with a brick that was
  /// opened anew.
  ///
  /// Throws `refused` when there is no such file, `badData` when it comes out otherwise than announced, `misconfigured`
  /// when it is longer than the limit, `disconnected`, and what `ask` throws.
  public mutating func run(
    on brick: EV3Brick, progress: EV3Progress? = nil
  ) async throws(AccessoryError) -> [UInt8] {
    if let result { return result }
    if let handle, !isAtEnd {
      if try await brick.openHandles().contains(Int(handle)) {
        resumptions += 1
        let missing = min(Self.piece, (size ?? 0) - bytes.count)
        if gaps.last?.offset != bytes.count { gaps.append((bytes.count, missing)) }
      } else {
        restart()
      }
    }
    if handle == nil { try await begin(on: brick) }
    let size = size ?? 0
    progress?(bytes.count, size)
    while let handle, !isAtEnd {
      let reply = try await next(on: brick, handle)
      let piece = try brick.reading { () throws(EV3MessageError) in try reply.piece() }.data
      isAtEnd = reply.status == .endOfFile
      guard bytes.count + piece.count <= size, isAtEnd || !piece.isEmpty else {
        restart()
        throw brick.wrongSize(path)
      }
      bytes += piece
      progress?(bytes.count, size)
    }
    if bytes.count != size { try await fillGap(on: brick) }
    let whole = bytes
    if resumptions > 0, let known = try await brick.entry(of: path), known.md5 != MD5.hexadecimal(whole) {
      restart()
      throw AccessoryError(.badData, "\(path) has changed while it was got from \(brick.label): get it once more")
    }
    result = whole
    return whole
  }

  private mutating func restart() {
    (handle, bytes, gaps, isAtEnd) = (nil, [], [], false)
  }

  private mutating func begin(on brick: EV3Brick) async throws(AccessoryError) {
    let reply = try await brick.answer(.beginUpload(maximum: UInt16(Self.piece), path: path))
    let beginning = try brick.reading { () throws(EV3MessageError) in try reply.beginning() }
    guard beginning.size <= limit else {
      try await brick.closeIfOpen(beginning.handle)
      throw AccessoryError(.misconfigured, "\(path) has \(beginning.size) bytes, and at most \(limit) are taken")
    }
    guard beginning.data.count <= beginning.size else { throw brick.wrongSize(path) }
    (size, handle, bytes) = (beginning.size, beginning.handle, beginning.data)
    isAtEnd = reply.status == .endOfFile
    if bytes.count == size { isAtEnd = true }
  }

  private mutating func next(on brick: EV3Brick, _ handle: UInt8) async throws(AccessoryError) -> EV3SystemReply {
    do throws(AccessoryError) {
      return try await brick.answer(.continueUpload(handle: handle, maximum: UInt16(Self.piece)))
    } catch {
      // A handle that is no longer open can't be gone on with.
      if error.ev3Status != nil { restart() }
      throw error
    }
  }

  /// One piece is missing: at the one place where that can be, or else it begins anew the next time.
  private mutating func fillGap(on brick: EV3Brick) async throws(AccessoryError) {
    let missing = (size ?? 0) - bytes.count
    guard gaps.count == 1, let gap = gaps.first, gap.count == missing else {
      let wasInterrupted = !gaps.isEmpty
      restart()
      guard wasInterrupted else { throw brick.wrongSize(path) }
      bytes = try await brick.file(path, limit: limit)
      return
    }
    let reply = try await brick.answer(.beginUpload(maximum: UInt16(Self.piece), path: path))
    let beginning = try brick.reading { () throws(EV3MessageError) in try reply.beginning() }
    guard beginning.size == size else {
      restart()
      throw brick.wrongSize(path)
    }
    var again = beginning.data
    var isOver = reply.status == .endOfFile
    while again.count < gap.offset + gap.count, !isOver {
      let reply = try await brick.answer(.continueUpload(handle: beginning.handle, maximum: UInt16(Self.piece)))
      let piece = try brick.reading { () throws(EV3MessageError) in try reply.piece() }.data
      isOver = reply.status == .endOfFile
      if piece.isEmpty { break }
      again += piece
    }
    if !isOver { try await brick.closeIfOpen(beginning.handle) }
    guard again.count >= gap.offset + gap.count else {
      restart()
      throw brick.wrongSize(path)
    }
    bytes.insert(contentsOf: again[gap.offset..<(gap.offset + gap.count)], at: gap.offset)
    gaps = []
  }
}

extension EV3Brick {
  /// Gets a file of at most `limit` bytes. Throws what `EV3Upload.run` throws; to go on after an interruption, use that.
  public func file(
    _ path: String, limit: Int = 64 << 20, progress: EV3Progress? = nil
  ) async throws(AccessoryError) -> [UInt8] {
    var upload = EV3Upload(path, limit: limit)
    return try await upload.run(on: self, progress: progress)
  }
}
