// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
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
  /// The file, when all of it has come, unless it went into a sink.
  public private(set) var result: [UInt8]?
  /// Times that it went on where it had been.
  public private(set) var resumptions = 0
  /// Bytes that have come.
  public private(set) var done = 0
  /// What the brick says the file's MD5 sum is, when it came in parts.
  public private(set) var md5: String?

  private let memory = MemoryFile()
  private var handle: UInt8?
  /// Of the second reading, of what is missing.
  private var second: UInt8?
  /// Where a piece may be missing, and how long that would be.
  private var gaps: [(offset: Int, count: Int)] = []
  private var isAtEnd = false
  private var isComplete = false
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
    try await run(on: brick, into: memory, progress: progress)
    let whole = memory.bytes
    if let md5, md5 != MD5.hexadecimal(whole) {
      restart()
      throw AccessoryError(.badData, "\(path) has changed while it was got from \(brick.label): get it once more")
    }
    result = whole
    return whole
  }

  /// As above, into a sink; what came in parts is to be compared with `md5`. When the task is cancelled, the brick's file
  /// is closed.
  public mutating func run(
    on brick: EV3Brick, into sink: any FileSink, progress: EV3Progress? = nil
  ) async throws(AccessoryError) {
    // Not in the catch clause: the optimizer of Swift 6.3.1 crashes on some awaits there.
    let failure: AccessoryError
    do throws(AccessoryError) { return try await get(from: brick, into: sink, progress) } catch { failure = error }
    if failure.kind == .cancelled {
      let open = [isAtEnd ? nil : handle, second].compactMap { $0 }
      restart()
      second = nil
      await EV3Brick.undoing { for handle in open { try? await brick.closeIfOpen(handle) } }
    }
    throw failure
  }

  private mutating func get(
    from brick: EV3Brick, into sink: any FileSink, _ progress: EV3Progress?
  ) async throws(AccessoryError) {
    if isComplete { return }
    if let handle, !isAtEnd {
      if try await brick.openHandles().contains(Int(handle)) {
        resumptions += 1
        let missing = min(Self.piece, (size ?? 0) - done)
        if gaps.last?.offset != done { gaps.append((done, missing)) }
      } else {
        restart()
      }
    }
    if handle == nil { try await begin(on: brick, into: sink) }
    let size = size ?? 0
    progress?(done, size)
    while let handle, !isAtEnd {
      let reply = try await next(on: brick, handle)
      let piece = try brick.reading { () throws(EV3MessageError) in try reply.piece() }.data
      isAtEnd = reply.status == .endOfFile
      guard done + piece.count <= size, isAtEnd || !piece.isEmpty else {
        restart()
        throw brick.wrongSize(path)
      }
      try await sink.insert(piece, at: done)
      done += piece.count
      progress?(done, size)
    }
    if done != size { try await fillGap(on: brick, into: sink, progress) }
    if resumptions > 0 { md5 = try await brick.entry(of: path)?.md5 }
    isComplete = true
  }

  private mutating func restart() {
    (handle, done, gaps, isAtEnd, isComplete, md5) = (nil, 0, [], false, false, nil)
  }

  private mutating func begin(on brick: EV3Brick, into sink: any FileSink) async throws(AccessoryError) {
    let reply = try await brick.answer(.beginUpload(maximum: UInt16(Self.piece), path: path))
    let beginning = try brick.reading { () throws(EV3MessageError) in try reply.beginning() }
    guard beginning.size <= limit else {
      try await brick.closeIfOpen(beginning.handle)
      throw AccessoryError(.misconfigured, "\(path) has \(beginning.size) bytes, and at most \(limit) are taken")
    }
    guard beginning.data.count <= beginning.size else { throw brick.wrongSize(path) }
    (size, handle, done) = (beginning.size, beginning.handle, 0)
    isAtEnd = reply.status == .endOfFile || beginning.data.count == beginning.size
    try await sink.begin(size: beginning.size)
    try await sink.insert(beginning.data, at: 0)
    done = beginning.data.count
  }

  private mutating func next(on brick: EV3Brick, _ handle: UInt8) async throws(AccessoryError) -> EV3SystemReply {
    do throws(AccessoryError) {
      return try await brick.answer(.continueUpload(handle: handle, maximum: UInt16(Self.piece)))
    } catch {
      // A handle that the brick has closed can't be resumed.
      if error.ev3Status != nil { restart() }
      throw error
    }
  }

  /// One piece is missing: at the one place where that can be, or else all is got once more.
  private mutating func fillGap(
    on brick: EV3Brick, into sink: any FileSink, _ progress: EV3Progress?
  ) async throws(AccessoryError) {
    let missing = (size ?? 0) - done
    guard gaps.count == 1, let gap = gaps.first, gap.count == missing else {
      let wasInterrupted = !gaps.isEmpty
      restart()
      guard wasInterrupted else { throw brick.wrongSize(path) }
      return try await get(from: brick, into: sink, progress)
    }
    if let second { try await brick.closeIfOpen(second) }
    second = nil
    let reply = try await brick.answer(.beginUpload(maximum: UInt16(Self.piece), path: path))
    let beginning = try brick.reading { () throws(EV3MessageError) in try reply.beginning() }
    second = reply.status == .endOfFile ? nil : beginning.handle
    guard beginning.size == size else {
      restart()
      throw brick.wrongSize(path)
    }
    var again = beginning.data[...]
    // Bytes in front of `again`, which are there already.
    var passed = 0
    var isOver = reply.status == .endOfFile
    while passed + again.count < gap.offset + gap.count, !isOver {
      let reply = try await brick.answer(.continueUpload(handle: beginning.handle, maximum: UInt16(Self.piece)))
      let piece = try brick.reading { () throws(EV3MessageError) in try reply.piece() }.data
      isOver = reply.status == .endOfFile
      if piece.isEmpty { break }
      again += piece
      let known = min(again.count, gap.offset - passed)
      again = again.dropFirst(known)
      passed += known
    }
    if !isOver { try await brick.closeIfOpen(beginning.handle) }
    second = nil
    let piece = again.dropFirst(gap.offset - passed).prefix(gap.count)
    guard piece.count == gap.count else {
      restart()
      throw brick.wrongSize(path)
    }
    try await sink.insert(Array(piece), at: gap.offset)
    done += gap.count
    gaps = []
    progress?(done, done)
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
