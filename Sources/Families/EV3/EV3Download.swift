// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols

/// Sends a file to a brick, which the brick calls a download. It can be resumed after an interruption.
///
/// The brick may have more of the file than was acknowledged, because the reply to the last piece may have been lost.
/// So before resuming, this asks the brick for the size and MD5 of its file. If these match the beginning of the
/// source, and the brick's handle is still open, the download resumes there; otherwise it starts again.
public struct EV3Download: Sendable {
  /// The path on the brick.
  public let path: String
  /// The file's contents.
  public let source: any FileSource
  /// The number of bytes that the brick has acknowledged.
  public private(set) var done = 0
  /// Whether the brick has the whole file.
  public private(set) var isComplete = false
  /// How many times the download resumed in the middle of the file.
  public private(set) var resumptions = 0
  private var handle: UInt8?

  /// A download of these bytes.
  public init(_ bytes: [UInt8], to path: String) { self.init(MemoryFile(bytes), to: path) }

  /// A download whose bytes are read from the source when they are needed.
  public init(_ source: any FileSource, to path: String) {
    self.source = source
    self.path = path
  }

  /// Sends the missing bytes. After an error it can be called again, also with a brick that was opened anew. When the
  /// task is cancelled, the file is closed and removed on the brick, because it would look complete.
  ///
  /// Throws `refused` (no such folder, no permission, no room), `disconnected`, `cancelled`, what the source throws, and
  /// what `ask` throws.
  public mutating func run(
    on brick: EV3Brick, progress: EV3Progress? = nil
  ) async throws(AccessoryError) {
    try await attempt { () throws(AccessoryError) in
      try await send(to: brick, progress)
    } onFailure: { failure in
      guard failure.kind == .cancelled, let handle else { return }
      self.handle = nil
      let path = path
      await EV3Brick.undoing {
        try? await brick.closeIfOpen(handle)
        try? await brick.remove(path)
      }
    }
  }

  private mutating func send(to brick: EV3Brick, _ progress: EV3Progress?) async throws(AccessoryError) {
    if isComplete { return }
    let count = source.count
    if handle != nil { try await findPlace(on: brick) }
    if isComplete {
      progress?(done, count)
      return
    }
    if handle == nil {
      done = 0
      let size = UInt32(exactly: count) ?? .max
      let reply = try await brick.answer(.beginDownload(size: size, path: path))
      handle = try brick.reading { () throws(EV3MessageError) in try reply.piece() }.handle
    }
    progress?(done, count)
    var isClosed = false
    while let handle, done < count {
      let piece = try await source.bytes(at: done, count: min(EV3Limits.downloadPiece, count - done))
      let reply: EV3SystemReply
      do throws(AccessoryError) {
        reply = try await brick.answer(.continueDownload(handle: handle, data: piece))
      } catch {
        // Sending the same piece again wouldn't change why the brick refuses it.
        if error.ev3Status != nil { self.handle = nil }
        throw error
      }
      done += piece.count
      isClosed = reply.status == .endOfFile
      progress?(done, count)
    }
    if let handle, !isClosed { try await brick.closeIfOpen(handle) }
    handle = nil
    isComplete = true
  }

  private mutating func findPlace(on brick: EV3Brick) async throws(AccessoryError) {
    guard let handle else { return }
    self.handle = nil
    var isClosing = false
    do throws(AccessoryError) {
      let isOpen = try await brick.openHandles().contains(Int(handle))
      let there = try await brick.entry(of: path)
      let isOurs = try await isBeginning(there)
      if isOurs, let there, isOpen || there.size == source.count {
        done = there.size
        resumptions += 1
        // The brick has the whole file: only the reply to the last piece was lost.
        isComplete = done == source.count
        if isComplete { isClosing = isOpen } else { self.handle = handle }
      } else {
        isClosing = isOpen
      }
    } catch {
      // After another interruption the handle is kept for the next attempt. After a refusal the file is sent anew.
      if error.ev3Status == nil {
        self.handle = handle
        throw error
      }
    }
    if isClosing { try await brick.closeIfOpen(handle) }
  }

  /// Whether the file on the brick equals the beginning of the source.
  private func isBeginning(_ there: (size: Int, md5: String)?) async throws(AccessoryError) -> Bool {
    guard let there, there.size <= source.count else { return false }
    var sum = MD5()
    var offset = 0
    while offset < there.size {
      let piece = try await source.bytes(at: offset, count: min(EV3Limits.downloadPiece, there.size - offset))
      guard !piece.isEmpty else { return false }
      sum.append(piece)
      offset += piece.count
    }
    return sum.hexadecimal == there.md5
  }
}

extension EV3Brick {
  /// Sends a file. Throws what `EV3Download.run` throws. To resume after an interruption, use `EV3Download`.
  public func send(
    _ bytes: [UInt8], to path: String, progress: EV3Progress? = nil
  ) async throws(AccessoryError) {
    var download = EV3Download(bytes, to: path)
    try await download.run(on: self, progress: progress)
  }
}
