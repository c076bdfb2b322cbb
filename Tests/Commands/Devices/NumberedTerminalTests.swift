// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Pseudo-terminals that the user, or an announcement, names by their numbers, which the kernel gives away again.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct NumberedTerminalTests {
  /// When a terminal was made; nil where there is none.
  private func birth(_ path: String) -> timespec? {
    var file = stat()
    return stat(path, &file) == 0 ? file.st_ctim : nil
  }

  /// With `isAnnounced`, the announcement still stands when its terminal is gone.
  @Test(arguments: [false, true]) func aStrangersTerminalWithTheNumberIsNotTaken(isAnnounced: Bool) async throws {
    try await Sandbox.with { box in
      var accessory: TestTerminal? = try openPseudoTerminal(raw: true)
      let path = try #require(accessory?.path)
      let announcement = isAnnounced ? try Announced(path, in: box) : nil
      defer { announcement?.end() }
      let name = isAnnounced ? "S1" : path
      let bridge = try box.start(["bridge", name, "--unix", "./line.sock"], limit: Sandbox.longLife)
      try await bridge.errors(containing: " is open")
      let born = try #require(birth(path))
      accessory?.unplug()
      accessory = nil
      // The number is free as soon as the bridge has closed the terminal, too. Then a stranger gets it, here or in another test.
      var others: [TestTerminal] = []
      try await eventually("another terminal has the number") {
        if let now = birth(path), now.tv_sec != born.tv_sec || now.tv_nsec != born.tv_nsec { return true }
        if others.count < 256 { others.append(try openPseudoTerminal(raw: true)) }
        return false
      }
      try await bridge.errors(containing: "now belongs to another program")
      for stranger in others where stranger.path == path { #expect(try !stranger.isExclusive()) }
      withExtendedLifetime(others) {}
      bridge.signal(SIGINT)
      _ = try await bridge.end()
    }
  }
}
