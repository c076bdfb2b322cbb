// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols

// Folders and files of a brick. Relative paths start at /home/root/lms2012/sys. A host may create files below ../apps,
// ../prjs and ../tools.

extension EV3Brick {
  /// The most bytes of a listing.
  static let listingLimit = 1 << 20

  /// The entries of a folder. Throws `refused` when there is no such folder, `badData`, and what `ask` throws.
  public func list(_ folder: String) async throws(AccessoryError) -> [EV3FolderEntry] {
    let maximum = UInt16(EV3Limits.uploadPiece)
    var reply = try await answer(.listFiles(maximum: maximum, path: folder))
    let beginning = try reading { () throws(EV3MessageError) in try reply.beginning() }
    var listing = beginning.data
    let size = beginning.size
    guard size <= Self.listingLimit else {
      throw AccessoryError(.badData, "\(label) announces a listing of \(Amount.bytes(size))")
    }
    while reply.status != .endOfFile, listing.count < size {
      reply = try await answer(.continueListFiles(handle: beginning.handle, maximum: maximum))
      let piece = try reading { () throws(EV3MessageError) in try reply.piece() }.data
      guard !piece.isEmpty, listing.count + piece.count <= size else { throw wrongSize(folder) }
      listing += piece
    }
    guard listing.count == size else { throw wrongSize(folder) }
    // When a piece ends exactly at the listing's end, the brick doesn't report the end, and the handle may still be open.
    if reply.status != .endOfFile { try await closeIfOpen(beginning.handle) }
    return try reading { () throws(EV3MessageError) in try EV3FolderEntry.entries(in: listing) }
  }

  /// Creates a folder. Throws `refused`, and what `ask` throws.
  public func makeFolder(_ path: String) async throws(AccessoryError) { _ = try await system(.makeFolder(path)) }

  /// Removes a file or an empty folder. Throws `refused`, and what `ask` throws.
  public func remove(_ path: String) async throws(AccessoryError) { _ = try await system(.delete(path)) }

  /// The handles that are open on the brick. Throws what `ask` throws.
  public func openHandles() async throws(AccessoryError) -> [Int] { try await answer(.listOpenHandles).openHandles }

  /// Closes a handle. Throws `refused` when it isn't open, and what `ask` throws.
  public func closeHandle(_ handle: UInt8) async throws(AccessoryError) { _ = try await system(.closeHandle(handle)) }

  // MARK: - Also used by transfers

  func answer(_ command: EV3SystemCommand) async throws(AccessoryError) -> EV3SystemReply {
    guard let reply = try await system(command) else {
      throw AccessoryError(.badData, "\(label) does not answer the command")
    }
    return reply
  }

  func reading<Value>(_ body: () throws(EV3MessageError) -> Value) throws(AccessoryError) -> Value {
    do throws(EV3MessageError) {
      return try body()
    } catch {
      throw AccessoryError(.badData, "\(label) sent an invalid reply to a system command: \(error)")
    }
  }

  func wrongSize(_ path: String) -> AccessoryError {
    AccessoryError(.badData, "\(label) sent another number of bytes of \(path) than it announced")
  }

  /// The size and MD5 of a file, from the listing of its folder; nil when the file isn't in it.
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

/// Called with the progress of a transfer: bytes done, and bytes in total.
public typealias EV3Progress = FileProgress
