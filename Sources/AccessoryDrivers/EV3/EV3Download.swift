// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// A file on its way to a brick, which may go on after an interruption.
///
/// What has arrived is not what was acknowledged: the answer to the last piece may be what was lost. So before going on,
/// the brick is asked how long its file is and what its sum is. Only when that is the beginning of ours, and its handle
/// is still open, does it go on there; otherwise it begins anew.
public struct EV3Download: Sendable {
  /// Where it goes.
  public let path: String
  /// What goes there.
  public let bytes: [UInt8]
  /// Bytes that the brick is known to have.
  public private(set) var done = 0
  /// Whether all of it is there.
  public private(set) var isComplete = false
  /// Times that it went on where it had been.
  public private(set) var resumptions = 0
  private var handle: UInt8?

  /// A file to be sent.
  public init(_ bytes: [UInt8], to path: String) {
    self.bytes = bytes
    self.path = path
  }

  /// Sends what is missing. When this throws, it can be called again, also with a brick that was opened anew.
  ///
  /// Throws `refused` (no such folder, no permission, no room), `disconnected`, and what `ask` throws.
  public mutating func run(
    on brick: EV3Brick, progress: EV3Progress? = nil
  ) async throws(AccessoryError) {
    if isComplete { return }
    if handle != nil { try await findPlace(on: brick) }
    if isComplete {
      progress?(done, bytes.count)
      return
    }
    if handle == nil {
      done = 0
      let size = UInt32(exactly: bytes.count) ?? .max
      let reply = try await brick.answer(.beginDownload(size: size, path: path))
      handle = try brick.reading { () throws(EV3MessageError) in try reply.piece() }.handle
    }
    progress?(done, bytes.count)
    var isClosed = false
    while let handle, done < bytes.count {
      let piece = Array(bytes[done...].prefix(EV3Limits.downloadPiece))
      let reply: EV3SystemReply
      do throws(AccessoryError) {
        reply = try await brick.answer(.continueDownload(handle: handle, data: piece))
      } catch {
        // A brick that refuses has its reasons; to send the same again would not change them.
        if error.ev3Status != nil { self.handle = nil }
        throw error
      }
      done += piece.count
      isClosed = reply.status == .endOfFile
      progress?(done, bytes.count)
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
      let isOurs = there.map { $0.size <= bytes.count && MD5.hexadecimal(bytes.prefix($0.size)) == $0.md5 } ?? false
      if isOurs, let there, isOpen || there.size == bytes.count {
        done = there.size
        resumptions += 1
        // Only the answer to the last piece was lost.
        isComplete = done == bytes.count
        if isComplete { isClosing = isOpen } else { self.handle = handle }
      } else {
        isClosing = isOpen
      }
    } catch {
      // It was interrupted again: the next time will tell. What is refused is not told, and begins anew.
      if error.ev3Status == nil {
        self.handle = handle
        throw error
      }
    }
    if isClosing { try await brick.closeIfOpen(handle) }
  }
}

extension EV3Brick {
  /// Sends a file. Throws what `EV3Download.run` throws; to go on after an interruption, use that.
  public func send(
    _ bytes: [UInt8], to path: String, progress: EV3Progress? = nil
  ) async throws(AccessoryError) {
    var download = EV3Download(bytes, to: path)
    try await download.run(on: self, progress: progress)
  }
}
