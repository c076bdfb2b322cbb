// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import Glibc
import SystemPackage

/// Makes the system's service attach an accessory from now on: its profile and a rule of udev's in /etc, and the service started.
package struct SystemSetup: Sendable {
  /// Where the files are written, and what runs the system's programs; tests have others.
  package struct Machine: Sendable {
    /// What stands before each path.
    package var root = ""
    /// Whose process this is.
    package var user = geteuid()
    /// Whether systemd runs here.
    package var hasSystemd = access("/run/systemd/system", F_OK) == 0
    /// Runs a program to its end. Throws if it fails.
    package var run: @Sendable (_ words: [String]) throws(AccessoryError) -> Void = { words throws(AccessoryError) in
      let ended = try ChildProgram.run(words[0], words, input: [], limit: .seconds(60))
      guard ended.status != 0 else { return }
      let said = SafeText.escape(String(decoding: ended.output, as: UTF8.self), limit: 500)
      let what = ended.status == nil ? "took longer than 60 s" : "failed: \(said)"
      throw AccessoryError(.ioFailure, "\(words.joined(separator: " ")) \(what)")
    }

    /// This machine.
    package init() {}
  }

  private static let unit = UdevRules.usualUnit
  /// After what a program has put into the folder of the rules.
  private static let reload = ["udevadm", "control", "--reload"]

  private let machine: Machine
  private let files: [(path: String, bytes: [UInt8])]
  /// Whether udev starts the service for the accessory.
  package let hasRule: Bool

  /// For a profile that was made for an accessory. Throws `badData` if the profile can't be read.
  package init(_ profile: IdentifiedProfile, drivers: DriverLibrary, on machine: Machine = Machine())
    throws(AccessoryError)
  {
    let bytes = Array(profile.text.utf8)
    let path = machine.root + "/etc/accessory-bridge/profiles/\(profile.name).yaml"
    var files = [(path: path, bytes: bytes)]
    do {
      let read = try ProfileReader.read(bytes, file: path, drivers: drivers, protocols: drivers.protocols)
      if UdevRules.know(read) {
        // After the rules of the package, which are 70.
        let rules = machine.root + "/etc/udev/rules.d/71-accessory-bridge-\(profile.name).rules"
        files.append((rules, Array(UdevRules().text(for: [read]).utf8)))
      }
    } catch { throw AccessoryError(.badData, "\(error)") }
    (self.machine, self.files, hasRule) = (machine, files, files.count > 1)
  }

  /// The paths of the files.
  package var paths: [String] { files.map(\.path) }

  /// The command that takes everything away again.
  package var undo: String {
    let reload = hasRule ? " && sudo \(Self.reload.joined(separator: " "))" : ""
    return "sudo rm \(paths.joined(separator: " "))\(reload) && sudo systemctl reload \(Self.unit)"
  }

  /// Throws `permissionDenied` for a user other than root, and `unsupported` where the service isn't installed or can't see the device.
  /// Changes nothing. Blocks.
  package static func check(_ device: Device, on machine: Machine = Machine()) throws(AccessoryError) {
    if device.source == .simulator {
      throw AccessoryError(.unsupported, "the system's service doesn't see simulated accessories: leave out --system")
    }
    guard machine.hasSystemd else {
      throw AccessoryError(
        .unsupported,
        "systemd doesn't run here, so there is no service to set up: use --write, and bridge-cli serve")
    }
    guard machine.user == 0 else {
      throw AccessoryError(
        .permissionDenied, "nothing was sent or written: --system writes below /etc, so run this command with sudo")
    }
    do throws(AccessoryError) { try machine.run(["systemctl", "cat", unit]) } catch {
      throw AccessoryError(
        .unsupported, "nothing was sent or written: \(unit) isn't installed here. The package accessory-bridge has it")
    }
  }

  /// Writes the files, and has udev and the service read them. If that fails or the task is cancelled, what was written is taken away
  /// again, and the error says so. A file that is there with the same content stays; another one is never replaced. Blocks.
  package func write() throws(AccessoryError) {
    var made: [String] = []
    do throws(AccessoryError) {
      for file in files { if try Self.put(file.bytes, at: file.path) { made.append(file.path) } }
      try tell()
    } catch {
      for path in made { unlink(path) }
      if made.contains(where: { $0.hasSuffix(".rules") }) { try? machine.run(Self.reload) }
      let names = made.joined(separator: ", ")
      let left = made.isEmpty ? "nothing was written" : "what was written is removed again: \(names)"
      throw AccessoryError(error.kind, code: error.code, "\(error.message); \(left)")
    }
  }

  private func tell() throws(AccessoryError) {
    if hasRule {
      try Self.checkCancellation()
      try machine.run(Self.reload)
      // The rule gives the device, which is plugged in already, to the service's group.
      try machine.run([
        "udevadm", "trigger", "--settle", "--subsystem-match=usb", "--subsystem-match=tty", "--subsystem-match=hidraw",
      ])
    }
    try Self.checkCancellation()
    try machine.run(["systemctl", "reload-or-restart", Self.unit])
  }

  private static func checkCancellation() throws(AccessoryError) {
    if Task.isCancelled { throw AccessoryError(.cancelled, "interrupted") }
  }

  /// Returns false if the file is there already, with the same content.
  private static func put(_ bytes: [UInt8], at path: String) throws(AccessoryError) -> Bool {
    try checkCancellation()
    do throws(Errno) {
      try ConfigurationFolder.writeNew(bytes, to: path, forEverybody: true)
      return true
    } catch .fileExists {
      if let there = try? SmallFile.read(path, limit: bytes.count), there == bytes { return false }
      throw AccessoryError(
        .misconfigured, code: .errno(EEXIST),
        "\(path) is there with another content: choose another --name, or remove it")
    } catch {
      throw AccessoryError(errno: error, "writing \(path)")
    }
  }
}
