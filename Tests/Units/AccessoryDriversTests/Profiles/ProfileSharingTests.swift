// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryFamilies
import Testing

@testable import AccessoryDrivers

/// What a profile says of programs that share its accessory.
@Suite struct ProfileSharingTests {
  private func read(_ text: String) throws(ProfileProblems) -> Profile {
    try ProfileReader.read(Array(("name: a\nmatch: {serial: x}\ndriver: framed\n" + text).utf8), file: "f")
  }

  @Test func everyKeyOfSharingIsRead() throws {
    #expect(try read("").sharing == nil)
    var sharing = ProfileSharing()
    sharing.terminal = "pack"
    #expect(try read("share: {pty: pack}").sharing == sharing)
    (sharing.socket, sharing.writers, sharing.unplug) = ("pack.sock", .one, .keep)
    #expect(try read("share: {pty: pack, unix: pack.sock, writers: one, unplug: keep}").sharing == sharing)
    sharing.asksToWrite = true
    let whole = try read(
      "writes: allowed\nshare: {pty: pack, unix: pack.sock, writers: one, unplug: keep, write: true}")
    #expect(whole.sharing == sharing)
    #expect(try ProfileReader.read(Array(ProfileText.text(whole).utf8), file: "g") == whole)
  }

  @Test func aSerialPortForPhonesIsRead() throws {
    var sharing = ProfileSharing()
    sharing.airName = "My Robot"
    #expect(try read("share: {ble: My Robot}").sharing == sharing)
    sharing.airForm = .nus
    let whole = try read("share: {ble: My Robot, uart: nus}")
    #expect(whole.sharing == sharing)
    #expect(try ProfileReader.read(Array(ProfileText.text(whole).utf8), file: "g") == whole)
  }

  @Test(arguments: [
    ("share: pack", 8, "share must be"), ("share: {}", 8, "pty: NAME, unix: NAME, ble: NAME, or several"),
    ("share: {pty: a, tty: pack}", 17, "unknown key \"tty\""), ("share: {pty: ../pack}", 14, "small letters a to z"),
    ("share: {unix: .hidden}", 15, "small letters a to z"), ("share: {pty: a, unix: a}", 23, "has this name already"),
    ("share: {pty: a, uart: nus}", 23, "ble: NAME gives it a name"),
    ("share: {ble: a, uart: spp}", 23, "uart must be hm10, nus or bluno"),
    ("share: {ble: a name of twenty-seven bytes}", 14, "wouldn't fit into an advertisement"),
    ("share: {pty: a, writers: some}", 26, "writers must be none, one or many"),
    ("share: {pty: a, unplug: close}", 25, "unplug must be hang-up or keep"),
    ("share: {pty: a, write: yes}", 24, "write must be true or false"),
    ("share: {pty: a, write: true}", 24, "needs writes: allowed"),
  ])
  func mistakesInSharingAreReported(_ text: String, _ column: Int, _ message: String) throws {
    let error = #expect(throws: ProfileProblems.self) { try read(text) }
    let problem = error?.problems.first
    #expect(problem?.message.contains(message) == true, "\(String(describing: error))")
    #expect(problem?.line == 4 && problem?.column == column, "\(String(describing: problem))")
  }

  @Test func nobodyWritesAndMayChangeSomething() {
    let error = #expect(throws: ProfileProblems.self) {
      try read("writes: allowed\nshare: {pty: a, writers: none, write: true}")
    }
    #expect(error?.problems.first?.message.contains("that nobody writes") == true)
  }
}
