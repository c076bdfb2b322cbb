// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import AccessorySimulator
import FamilyEV3

/// The files that a host has open on a brick, and the system commands for them.
struct SimulatedHandles: Sendable {
  private enum Handle: Sendable {
    /// Open for writing: `count` of `size` bytes have arrived.
    case writing(path: String, size: Int, count: Int)
    /// Open for reading of a snapshot of a file, or of a folder's listing.
    case reading([UInt8], offset: Int, isListing: Bool)
    /// Open for reading of a file's current contents.
    case following(path: String, offset: Int)
  }

  private var open: [UInt8: Handle] = [:]
  private let limit: Int

  /// At most `limit` files can be open.
  init(limit: Int) { self.limit = limit }

  /// The number of open files.
  var count: Int { open.count }

  mutating func closeAll() { open = [:] }

  private mutating func add(_ handle: Handle) -> UInt8? {
    guard open.count < limit, let number = (0...UInt8.max).first(where: { open[$0] == nil }) else { return nil }
    open[number] = handle
    return number
  }

  /// Carries out a command.
  mutating func answer(_ command: EV3SystemCommand, _ files: inout SimulatedFiles) -> EV3SystemReply {
    func reply(_ status: EV3Status, _ data: [UInt8] = []) -> EV3SystemReply {
      EV3SystemReply(code: command.code, status: status, data: data)
    }
    switch command {
    case .beginDownload(let size, let path):
      if path.isEmpty || path.hasSuffix("/") { return reply(.illegalFileName) }
      guard SimulatedFiles.isWritable(path), files.entries(path) == nil else { return reply(.illegalPath) }
      guard files.hasRoom(for: Int(clamping: size)) else { return reply(.sizeError) }
      guard let handle = add(.writing(path: path, size: Int(clamping: size), count: 0)) else {
        return reply(.noHandlesAvailable)
      }
      files.put([], at: path)
      return reply(.success, [handle])
    case .continueDownload(let number, let data): return write(data, to: number, &files, reply)
    case .beginUpload(let maximum, let path):
      guard let bytes = files.contents(path) else { return reply(.illegalPath) }
      return begin(bytes, maximum, isListing: false, reply)
    case .listFiles(let maximum, let path):
      guard let entries = files.entries(path) else { return reply(.illegalPath) }
      return begin(Array(entries.map(\.line).joined().utf8), maximum, isListing: true, reply)
    case .continueUpload(let number, let maximum):
      return read(number, maximum, isListing: false, reply)
    case .continueListFiles(let number, let maximum):
      return read(number, maximum, isListing: true, reply)
    case .beginGetFile(let maximum, let path):
      guard files.contents(path) != nil else { return reply(.illegalPath) }
      guard let number = add(.following(path: path, offset: 0)) else { return reply(.noHandlesAvailable) }
      return follow(number, maximum, files, reply)
    case .continueGetFile(let number, let maximum): return follow(number, maximum, files, reply)
    case .closeHandle(let number):
      return open.removeValue(forKey: number) == nil ? reply(.unknownHandle, [number]) : reply(.success, [number])
    case .makeFolder(let path):
      return SimulatedFiles.isWritable(path + "/.") || SimulatedFiles.isWritable(path)
        ? reply(files.makeFolder(path)) : reply(.illegalPath)
    case .delete(let path): return reply(files.remove(path))
    case .listOpenHandles:
      var bits = [UInt8](repeating: 0, count: 32)
      for number in open.keys { bits[Int(number) / 8] |= 1 << (number % 8) }
      return reply(.success, bits)
    case .setBundleID, .setBundleSeedID: return reply(.success)
    case .writeMailbox, .enterFirmwareUpdate: return reply(.success)
    }
  }

  private typealias Reply = (EV3Status, [UInt8]) -> EV3SystemReply

  private mutating func write(
    _ data: [UInt8], to number: UInt8, _ files: inout SimulatedFiles, _ reply: Reply
  ) -> EV3SystemReply {
    guard case .writing(let path, let size, let count)? = open[number] else { return reply(.unknownHandle, [number]) }
    guard count + data.count <= size, files.hasRoom(for: data.count) else { return reply(.sizeError, [number]) }
    files.append(data, to: path)
    if count + data.count == size {
      open[number] = nil
      return reply(.endOfFile, [number])
    }
    open[number] = .writing(path: path, size: size, count: count + data.count)
    return reply(.success, [number])
  }

  private mutating func begin(
    _ bytes: [UInt8], _ maximum: UInt16, isListing: Bool, _ reply: Reply
  ) -> EV3SystemReply {
    let first = Array(bytes.prefix(min(Int(maximum), EV3Limits.uploadPiece)))
    let head = withUnsafeBytes(of: UInt32(bytes.count).littleEndian) { Array($0) }
    // For a listing with exactly the requested length, the firmware doesn't report the end.
    if first.count == bytes.count, !isListing || Int(maximum) > bytes.count {
      return reply(.endOfFile, head + [0] + first)
    }
    let handle = add(.reading(bytes, offset: first.count, isListing: isListing))
    guard let handle else { return reply(.noHandlesAvailable, []) }
    return reply(.success, head + [handle] + first)
  }

  private mutating func read(
    _ number: UInt8, _ maximum: UInt16, isListing wanted: Bool, _ reply: Reply
  ) -> EV3SystemReply {
    guard case .reading(let bytes, let offset, let isListing)? = open[number], isListing == wanted else {
      return reply(.unknownHandle, [number])
    }
    let piece = Array(bytes[offset...].prefix(min(Int(maximum), EV3Limits.nextUploadPiece)))
    if offset + piece.count == bytes.count {
      open[number] = nil
      return reply(.endOfFile, [number] + piece)
    }
    open[number] = .reading(bytes, offset: offset + piece.count, isListing: isListing)
    return reply(.success, [number] + piece)
  }

  /// Reads on from a file that may still grow, so the handle stays open at the end.
  private mutating func follow(
    _ number: UInt8, _ maximum: UInt16, _ files: SimulatedFiles, _ reply: Reply
  ) -> EV3SystemReply {
    guard case .following(let path, let offset)? = open[number], let bytes = files.contents(path) else {
      return reply(.unknownHandle, [number])
    }
    let piece = Array(bytes.dropFirst(offset).prefix(min(Int(maximum), EV3Limits.uploadPiece)))
    open[number] = .following(path: path, offset: offset + piece.count)
    let head = withUnsafeBytes(of: UInt32(bytes.count).littleEndian) { Array($0) }
    let isAll = offset + piece.count >= bytes.count
    return reply(isAll ? .endOfFile : .success, head + [number] + piece)
  }
}
