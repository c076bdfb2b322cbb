// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols

/// Gets a file from a brick, which the brick calls an upload. It can be resumed after an interruption.
///
/// The brick sends the next piece of its open file, and the host can't set the position. If a reply was lost, its piece
/// is missing, which shows at the end because bytes are missing. The file is then read again from the beginning up to
/// that piece. The MD5 of a file that was got in several parts is compared with the brick's.
public struct EV3Upload: Sendable {
  /// The path on the brick.
  public let path: String
  /// The size of the largest file that is accepted, in bytes.
  public let limit: Int
  /// The file's size in bytes; nil before the upload begins.
  public private(set) var size: Int?
  /// The whole file, when the upload is complete and had no sink.
  public private(set) var result: [UInt8]?
  /// How many times the upload resumed in the middle of the file.
  public private(set) var resumptions = 0
  /// The number of bytes received.
  public private(set) var done = 0
  /// The file's MD5 according to the brick, when it was got in several parts; otherwise nil.
  public private(set) var md5: String?

  private let memory = MemoryFile()
  private var handle: UInt8?
  /// The handle for reading the file again, up to the missing piece.
  private var second: UInt8?
  /// Where a piece may be missing, and the size of that piece.
  private var gaps: [(offset: Int, count: Int)] = []
  private var isAtEnd = false
  private var isComplete = false
  /// Nobody knows what a sink that failed has kept: the next run begins anew.
  private var hasSinkFailed = false
  private static let piece = EV3Limits.uploadPiece

  /// An upload of a file of at most `limit` bytes.
  public init(_ path: String, limit: Int = 64 << 20) {
    self.path = path
    self.limit = limit
  }

  /// Gets the missing bytes, and returns the whole file. After an error it can be called again, also with a brick that
  /// was opened anew.
  ///
  /// Throws `refused` when there is no such file, `badData` when its size or MD5 isn't what the brick announced,
  /// `misconfigured` when it is larger than the limit, `disconnected`, and what `ask` throws.
  public mutating func run(
    on brick: EV3Brick, progress: EV3Progress? = nil
  ) async throws(AccessoryError) -> [UInt8] {
    if let result { return result }
    try await run(on: brick, into: memory, progress: progress)
    let whole = memory.bytes
    if let md5, md5 != MD5.hexadecimal(whole) {
      restart()
      throw AccessoryError(.badData, "\(path) changed while it was read from \(brick.label): try again")
    }
    result = whole
    return whole
  }

  /// Gets the missing bytes and writes the file to a sink. If `md5` isn't nil afterwards, compare the file with it.
  /// When the task is cancelled, the file is closed on the brick. Throws what `run` without a sink and the sink throw.
  public mutating func run(
    on brick: EV3Brick, into sink: any FileSink, progress: EV3Progress? = nil
  ) async throws(AccessoryError) {
    try await attempt { () throws(AccessoryError) in
      try await get(from: brick, into: sink, progress)
    } onFailure: { failure in
      guard failure.kind == .cancelled || hasSinkFailed else { return }
      let open = [isAtEnd ? nil : handle, second].compactMap { $0 }
      restart()
      (second, hasSinkFailed) = (nil, false)
      await EV3Brick.undoing { for handle in open { try? await brick.closeIfOpen(handle) } }
    }
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
      try await insert(piece, at: done, into: sink)
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
      throw AccessoryError(.misconfigured, "\(path) has \(beginning.size) bytes, more than the limit of \(limit)")
    }
    guard beginning.data.count <= beginning.size else { throw brick.wrongSize(path) }
    (size, handle, done) = (beginning.size, beginning.handle, 0)
    isAtEnd = reply.status == .endOfFile || beginning.data.count == beginning.size
    do throws(AccessoryError) {
      try await sink.begin(size: beginning.size)
    } catch {
      hasSinkFailed = true
      throw error
    }
    try await insert(beginning.data, at: 0, into: sink)
    done = beginning.data.count
  }

  private mutating func insert(
    _ bytes: [UInt8], at offset: Int, into sink: any FileSink
  ) async throws(AccessoryError) {
    do throws(AccessoryError) {
      try await sink.insert(bytes, at: offset)
    } catch {
      hasSinkFailed = true
      throw error
    }
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

  /// Gets the missing piece, if its position is known; otherwise gets the whole file again.
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
    // The number of bytes dropped from the beginning of `again`, because the sink already has them.
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
    try await insert(Array(piece), at: gap.offset, into: sink)
    done += gap.count
    gaps = []
    progress?(done, done)
  }
}

extension EV3Brick {
  /// Gets a file of at most `limit` bytes. Throws what `EV3Upload.run` throws. To resume after an interruption, use `EV3Upload`.
  public func file(
    _ path: String, limit: Int = 64 << 20, progress: EV3Progress? = nil
  ) async throws(AccessoryError) -> [UInt8] {
    var upload = EV3Upload(path, limit: limit)
    return try await upload.run(on: self, progress: progress)
  }
}
