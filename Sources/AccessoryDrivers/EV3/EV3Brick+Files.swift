// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

// Folders and files. Relative paths begin in /home/root/lms2012/sys; a host may make files below ../apps, ../prjs and
// ../tools.

extension EV3Brick {
  /// Bytes of a listing, and entries in it, that are read at most.
  static let listingLimit = 1 << 20

  /// What is in a folder. Throws `refused` when there is none, `badData`, and what `ask` throws.
  public func list(_ folder: String) async throws(AccessoryError) -> [EV3FolderEntry] {
    let maximum = UInt16(EV3Limits.uploadPiece)
    var reply = try await answer(.listFiles(maximum: maximum, path: folder))
    let beginning = try reading { () throws(EV3MessageError) in try reply.beginning() }
    var listing = beginning.data
    let size = beginning.size
    guard size <= Self.listingLimit else {
      throw AccessoryError(.badData, "\(label) announces a listing of \(size) bytes")
    }
    while reply.status != .endOfFile, listing.count < size {
      reply = try await answer(.continueListFiles(handle: beginning.handle, maximum: maximum))
      let piece = try reading { () throws(EV3MessageError) in try reply.piece() }.data
      guard !piece.isEmpty, listing.count + piece.count <= size else { throw wrongSize(folder) }
      listing += piece
    }
    guard listing.count == size else { throw wrongSize(folder) }
    // A brick doesn't say that this is the end where it is just where that was asked for; the handle is open then.
    if reply.status != .endOfFile { try await closeIfOpen(beginning.handle) }
    return try reading { () throws(EV3MessageError) in try EV3FolderEntry.entries(in: listing) }
  }

  /// Makes a folder. Throws `refused`, and what `ask` throws.
  public func makeFolder(_ path: String) async throws(AccessoryError) { _ = try await system(.makeFolder(path)) }

  /// Removes a file, or a folder that is empty. Throws `refused`, and what `ask` throws.
  public func remove(_ path: String) async throws(AccessoryError) { _ = try await system(.delete(path)) }

  /// The handles that are open.
  public func openHandles() async throws(AccessoryError) -> [Int] { try await answer(.listOpenHandles).openHandles }

  /// Closes a handle. Throws `refused` when it isn't open.
  public func closeHandle(_ handle: UInt8) async throws(AccessoryError) { _ = try await system(.closeHandle(handle)) }

  // MARK: - For transfers, too

  func answer(_ command: EV3SystemCommand) async throws(AccessoryError) -> EV3SystemReply {
    guard let reply = try await system(command) else {
      throw AccessoryError(.badData, "\(label) does not answer that")
    }
    return reply
  }

  func reading<Value>(_ body: () throws(EV3MessageError) -> Value) throws(AccessoryError) -> Value {
    do throws(EV3MessageError) {
      return try body()
    } catch {
      throw AccessoryError(.badData, "\(label) answers a system command with something else: \(error)")
    }
  }

  func wrongSize(_ path: String) -> AccessoryError {
    AccessoryError(.badData, "\(label) gives more or less of \(path) than it announced")
  }

  /// What a folder's listing says of a file; nil when it isn't in it.
  func entry(of path: String) async throws(AccessoryError) -> (size: Int, md5: String)? {
    let slash = path.lastIndex(of: "/")
    let folder = slash.map { String(path[...$0]) } ?? "./"
    let wanted = slash.map { String(path[path.index(after: $0)...]) } ?? path
    for case .file(let name, let size, let md5) in try await list(folder) where name == wanted { return (size, md5) }
    return nil
  }

  /// Closes a handle that may be closed already.
  func closeIfOpen(_ handle: UInt8) async throws(AccessoryError) {
    do throws(AccessoryError) {
      try await closeHandle(handle)
    } catch {
      if error.ev3Status == nil { throw error }
    }
  }
}

/// Is told how far a transfer is: bytes that have arrived, and bytes in all.
public typealias EV3Progress = FileProgress
