// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import AccessoryProtocols
import Glibc
import SystemPackage

/// How other programs find a simulator on a pseudo-terminal or on the network.
package struct DiscoveryHints: Sendable {
  /// The path of a link to the terminal; nil for no link.
  package var link: String?
  /// The announcement, without path and link; nil when the simulator isn't announced.
  package var announcement: Announcement?
  /// The folder of the announcement; nil means the user's.
  package var directory: String?

  package init(link: String? = nil, announcement: Announcement? = nil, directory: String? = nil) {
    (self.link, self.announcement, self.directory) = (link, announcement, directory)
  }
}

/// The link and the announcement of a simulator that is plugged in.
final class Presence: Sendable {
  private let link: String?
  private let target: String
  private let announcement: AnnouncementFile?
  private let isRemoved = Locked(false)

  /// Makes the announcement and then the link, so that who comes by the link finds what it is. The link replaces a link to a
  /// terminal, unless that belongs to a running simulator, but no other file.
  init(of path: String, _ hints: DiscoveryHints) throws(AccessoryError) {
    target = path
    link = try hints.link.map { link throws(AccessoryError) in try Self.freed(link, for: path, hints.directory) }
    announcement = try Self.announce(path, name: AnnouncementFile.name(ofTerminal: path), link: link, hints)
    guard let link else { return }
    do throws(AccessoryError) {
      try Self.makeLink(link, to: path)
    } catch {
      announcement?.remove()
      throw error
    }
  }

  /// Announces a simulator that listens at a network address, which has no link.
  init(at address: NetworkAddress, _ hints: DiscoveryHints) throws(AccessoryError) {
    (link, target) = (nil, DeviceAddress.tcp(address).description)
    announcement = try Self.announce(target, name: "tcp-\(address.port)", link: nil, hints)
  }

  /// Removes them. The second call does nothing: by then the terminal may be another simulator's.
  func remove() {
    let wasRemoved = isRemoved.withLock { isRemoved in
      defer { isRemoved = true }
      return isRemoved
    }
    guard !wasRemoved else { return }
    announcement?.remove()
    // Another simulator may have replaced the link since.
    if let link, SymbolicLink.target(of: link) == target { unlink(link) }
  }

  private static func announce(
    _ path: String, name: String, link: String?, _ hints: DiscoveryHints
  ) throws(AccessoryError) -> AnnouncementFile? {
    guard var announcement = hints.announcement else { return nil }
    announcement.path = path
    announcement.link = link
    return try AnnouncementFile(announcement, name: name, directory: hints.directory)
  }

  /// The absolute path of a link, where nothing is now, or what isn't a link to a terminal.
  private static func freed(_ link: String, for path: String, _ directory: String?) throws(AccessoryError) -> String {
    let absolute = absolute(link)
    guard let old = SymbolicLink.target(of: absolute), old.hasPrefix("/dev/pts/") else { return absolute }
    // That the terminal exists proves nothing, because its number is reused. The announcement shows if its simulator runs.
    if old != path, let owner = AnnouncementFile.living(AnnouncementFile.name(ofTerminal: old), directory: directory),
      owner.link == absolute
    {
      let who = owner.serial ?? "another simulator"
      throw AccessoryError(
        .busy, "\(link) is the link of \(who), which runs at \(old): end it, or choose another path")
    }
    unlink(absolute)
    return absolute
  }

  private static func makeLink(_ link: String, to path: String) throws(AccessoryError) {
    guard symlink(path, link) != 0 else { return }
    let error = Errno(rawValue: errno)
    if error == .fileExists {
      throw AccessoryError(
        .misconfigured, code: .errno(EEXIST), "\(link) exists and is not a link to a terminal: choose another path")
    }
    throw AccessoryError(errno: error, "making the link \(link)")
  }

  /// The absolute path, without "." and empty components.
  private static func absolute(_ path: String) -> String {
    "/" + WorkingFolder.absolute(path).split(separator: "/").filter { $0 != "." }.joined(separator: "/")
  }
}
