// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import AccessoryProtocols
import Glibc
import SystemPackage

/// By what a simulator on a pseudo-terminal is found.
struct Traces: Sendable {
  /// Where to keep a link to the terminal.
  var link: String?
  /// What is told of it, but for path and link; nil when it isn't announced.
  var announcement: Announcement?
  /// Where it is told; nil for the user's own directory.
  var directory: String?
}

/// The traces of a plugged-in simulator in the file system: its link and its announcement.
struct Presence: Sendable {
  private let link: String?
  private let target: String
  private let announcement: AnnouncementFile?

  /// Makes them. The link replaces an older link to a terminal, unless a simulator that runs keeps it, and nothing else.
  init(of path: String, _ traces: Traces) throws(AccessoryError) {
    target = path
    link = try traces.link.map { link throws(AccessoryError) in try Self.makeLink(link, to: path, traces.directory) }
    do throws(AccessoryError) {
      announcement = try Self.announce(path, link: link, traces)
    } catch {
      if let link { unlink(link) }
      throw error
    }
  }

  func remove() {
    announcement?.remove()
    // Another simulator may have taken the link over.
    if let link, SymbolicLink.target(of: link) == target { unlink(link) }
  }

  private static func announce(
    _ path: String, link: String?, _ traces: Traces
  ) throws(AccessoryError) -> AnnouncementFile? {
    guard var announcement = traces.announcement else { return nil }
    announcement.path = path
    announcement.link = link
    return try AnnouncementFile(announcement, name: name(of: path), directory: traces.directory)
  }

  /// "/dev/pts/7" is one terminal at a time, so its number names the announcement.
  private static func name(of path: String) -> String { "pts-" + path.drop { !$0.isNumber } }

  private static func makeLink(
    _ link: String, to path: String, _ directory: String?
  ) throws(AccessoryError) -> String {
    let absolute = absolute(link)
    if let old = SymbolicLink.target(of: absolute), old.hasPrefix("/dev/pts/") {
      // That the terminal is there says nothing: numbers are given out again. Its simulator's announcement does.
      if old != path, let owner = AnnouncementFile.living(name(of: old), directory: directory), owner.link == absolute {
        let who = owner.serial ?? "another simulator"
        throw AccessoryError(
          .busy, "\(link) is the link of \(who), which is running at \(old): end that, or choose another path")
      }
      unlink(absolute)
    }
    guard symlink(path, absolute) == 0 else {
      let error = Errno(rawValue: errno)
      if error == .fileExists {
        throw AccessoryError(.misconfigured, code: .errno(EEXIST), "\(link) exists and is not a link to a terminal")
      }
      throw AccessoryError(errno: error, "making the link \(link)")
    }
    return absolute
  }

  /// The path from the root, without the components that say nothing.
  private static func absolute(_ path: String) -> String {
    let full = path.hasPrefix("/") ? path : currentDirectory() + "/" + path
    return "/" + full.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
  }

  private static func currentDirectory() -> String {
    guard let path = getcwd(nil, 0) else { return "." }
    defer { free(path) }
    return String(cString: path)
  }
}
