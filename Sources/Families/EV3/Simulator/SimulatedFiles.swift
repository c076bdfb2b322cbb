// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import AccessorySimulator
import FamilyEV3

/// The files of a brick, in memory. Relative paths start at its `sys` folder.
public struct SimulatedFiles: Sendable {
  /// The folder that relative paths start at.
  public static let home = "/home/root/lms2012/sys"
  /// The folders that a host may write to.
  static let writable = ["apps", "prjs", "tools"]

  /// Limits of what a host can store: the bytes of all files, and the number of files and folders.
  static let byteLimit = 64 << 20
  static let entryLimit = 4_096

  private var files: [String: [UInt8]] = [:]
  private var folders: Set<String> = []
  private var byteCount = 0

  /// Whether there is room for `count` more bytes and another file or folder.
  func hasRoom(for count: Int) -> Bool {
    byteCount + count <= Self.byteLimit && files.count + folders.count < Self.entryLimit
  }

  init() {
    addFolder(Self.home)
    addFolder(Self.home + "/settings")
    addFolder(Self.home + "/ui")
    for name in Self.writable { addFolder("/home/root/lms2012/" + name) }
  }

  /// The absolute path, without "." and "..".
  static func absolute(_ path: String) -> String {
    let full = path.hasPrefix("/") ? path : home + "/" + path
    var parts: [Substring] = []
    for part in full.split(separator: "/") {
      switch part {
      case ".": break
      case "..": _ = parts.popLast()
      default: parts.append(part)
      }
    }
    return "/" + parts.joined(separator: "/")
  }

  private static func parent(_ path: String) -> String {
    "/" + path.split(separator: "/").dropLast().joined(separator: "/")
  }

  private mutating func addFolder(_ path: String) {
    var path = path
    while path != "/", !folders.contains(path) {
      folders.insert(path)
      path = Self.parent(path)
    }
  }

  /// Whether a host may create a file there: only in three folders, as on LEGO's firmware.
  static func isWritable(_ path: String) -> Bool {
    let absolute = absolute(path)
    return writable.contains { absolute.hasPrefix("/home/root/lms2012/\($0)/") }
  }

  // MARK: - Files

  /// The contents of a file; nil when there is no such file.
  public func contents(_ path: String) -> [UInt8]? { files[Self.absolute(path)] }

  /// Stores a file, and creates the folders above it.
  public mutating func put(_ bytes: [UInt8], at path: String) {
    let path = Self.absolute(path)
    addFolder(Self.parent(path))
    byteCount += bytes.count - (files[path]?.count ?? 0)
    files[path] = bytes
  }

  mutating func append(_ bytes: [UInt8], to path: String) {
    byteCount += bytes.count
    files[Self.absolute(path), default: []] += bytes
  }

  mutating func makeFolder(_ path: String) -> EV3Status {
    let path = Self.absolute(path)
    if folders.contains(path) || files[path] != nil { return .fileExists }
    guard hasRoom(for: 0) else { return .noPermission }
    addFolder(path)
    return .success
  }

  mutating func remove(_ path: String) -> EV3Status {
    let path = Self.absolute(path)
    if let bytes = files.removeValue(forKey: path) {
      byteCount -= bytes.count
      return .success
    }
    guard folders.contains(path) else { return .illegalPath }
    let isUsed = files.keys.contains { $0.hasPrefix(path + "/") } || folders.contains { $0.hasPrefix(path + "/") }
    if isUsed || path == Self.home { return .noPermission }
    folders.remove(path)
    return .success
  }

  /// The entries of a folder, folders first, each kind sorted by name; nil when there is no such folder.
  public func entries(_ path: String) -> [EV3FolderEntry]? {
    let path = Self.absolute(path)
    guard path == "/" || folders.contains(path) else { return nil }
    let inside = folders.filter { Self.parent($0) == path }.sorted().map { EV3FolderEntry.folder(name: Self.name($0)) }
    let own = files.filter { Self.parent($0.key) == path }.sorted { $0.key < $1.key }.map { path, bytes in
      EV3FolderEntry.file(name: Self.name(path), size: bytes.count, md5: MD5.hexadecimal(bytes))
    }
    return inside + own
  }

  private static func name(_ path: String) -> String { String(path.split(separator: "/").last ?? "") }
}
