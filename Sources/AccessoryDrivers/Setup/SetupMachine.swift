// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import Glibc
import SystemPackage

/// The machine that a setup changes; tests have others. Its files are below `root`. All calls block.
package struct SetupMachine: Sendable {
  /// What stands before each path of the system.
  package var root = ""
  /// Whose process this is.
  package var user = geteuid()
  /// Whether systemd runs here.
  package var hasSystemd = access("/run/systemd/system", F_OK) == 0
  /// Whether this user has a systemd of its own.
  package var hasUserSystemd =
    Self.variable("XDG_RUNTIME_DIR").map { access($0 + "/systemd/private", F_OK) == 0 } ?? false
  /// The folder of the user's settings; nil if it isn't known.
  package var settings = ConfigurationFolder.user
  /// The folder of the user's profiles; nil if it isn't known.
  package var profiles = ProfileFile.folder
  /// The process of the user's service, which reads its profiles again at SIGHUP; nil where none runs, or systemd has it.
  package var service: Int?
  /// Called before each change. What it throws interrupts the setup.
  package var willChange: @Sendable () throws(AccessoryError) -> Void = { () throws(AccessoryError) in }
  /// Runs a program to its end. Throws if it fails.
  package var run: @Sendable (_ words: [String]) throws(AccessoryError) -> Void = { words throws(AccessoryError) in
    let ended = try ChildProgram.run(words[0], words, input: [], limit: .seconds(60))
    guard ended.status != 0 else { return }
    let lines = String(decoding: ended.output, as: UTF8.self).split(separator: "\n").joined(separator: "; ")
    let said = SafeText.escape(lines, limit: 500)
    let what = ended.status == nil ? "took longer than 60 s" : "failed: \(said)"
    throw AccessoryError(.ioFailure, "\(words.joined(separator: " ")) \(what)")
  }

  package init() {}

  private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  /// Throws `permissionDenied` for a user other than root, and `unsupported` where the system's service isn't installed or can't see the
  /// device. Changes nothing.
  package func checkSystem(_ device: Device? = nil) throws(AccessoryError) {
    if device?.source == .simulator {
      throw AccessoryError(.unsupported, "the system's service doesn't see simulated accessories: leave out --system")
    }
    guard hasSystemd else {
      throw AccessoryError(
        .unsupported,
        "systemd doesn't run here, so there is no service to set up: use --write, and bridge-cli serve")
    }
    guard user == 0 else {
      throw AccessoryError(
        .permissionDenied, "nothing was sent or written: --system writes below /etc, so run this command with sudo")
    }
    guard hasUnit(UdevRules.usualUnit) else {
      throw AccessoryError(
        .unsupported,
        "nothing was sent or written: \(UdevRules.usualUnit) isn't installed here. The package accessory-bridge has it")
    }
  }

  /// Whether systemd has this unit of the system. Where there is no D-Bus, it answers root alone, so the usual folders are looked at first.
  package func hasUnit(_ unit: String) -> Bool {
    let folders = ["/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"]
    return hasSystemd
      && (folders.contains { access("\(root)\($0)/systemd/system/\(unit)", F_OK) == 0 }
        || succeeds(["systemctl", "cat", unit]))
  }

  func succeeds(_ words: [String]) -> Bool {
    do throws(AccessoryError) {
      try run(words)
      return true
    } catch {
      return false
    }
  }

  // MARK: - Files

  /// What is at a path.
  enum Found: Equatable {
    case nothing, unreadable
    case file([UInt8])
  }

  static let fileLimit = 1 << 20

  func find(_ path: String) -> Found {
    do throws(Errno) { return .file(try SmallFile.read(path, limit: Self.fileLimit)) } catch .noSuchFileOrDirectory {
      return .nothing
    } catch {
      return .unreadable
    }
  }

  /// Replaces or creates a file. `isOpen`: all users may read it.
  func put(_ bytes: [UInt8], at path: String, isOpen: Bool) throws(AccessoryError) {
    do throws(Errno) { try ConfigurationFolder.write(bytes, to: path, forEverybody: isOpen) } catch {
      throw AccessoryError(errno: error, "writing \(path)")
    }
  }

  /// The folders above a path that aren't there, the outermost first.
  func missingFolders(above path: String) -> [String] {
    var folders: [String] = []
    var folder = path
    while let slash = folder.lastIndex(of: "/"), slash != folder.startIndex {
      folder = String(folder[..<slash])
      if access(folder, F_OK) == 0 { break }
      folders.insert(folder, at: 0)
    }
    return folders
  }
}
