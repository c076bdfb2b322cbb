// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryFamilies
import TestSupport
import Testing

/// Profiles of version 0.1, and what they meant to it: `profile show` prints every setting.
struct OldProfilesTests {
  /// The lines of `profile show` that are gone or are others now. Lines may have been added.
  private func losses(_ shown: String, _ profile: Profile) -> [String] {
    var now = ProfileText.text(profile).split(separator: "\n")[...]
    var losses: [String] = []
    for line in shown.split(separator: "\n") {
      if let place = now.firstIndex(of: line) {
        now = now[(place + 1)...]
      } else {
        losses.append("\(line): is gone, or is another now, in\n\(ProfileText.text(profile))")
      }
    }
    return losses
  }

  /// A user's file means the same, and so does what was shown of it, kept as a file.
  @Test(arguments: OldVersion.names(in: "profiles/user", ending: ".yaml"))
  func aUsersProfileMeansTheSame(name: String) throws {
    let file = "profiles/user/\(name).yaml"
    let shown = try OldVersion.text("profiles/user/\(name).shown")
    let profile = try ProfileReader.read(try OldVersion.bytes(file), file: file)
    let again = try ProfileReader.read(Array(shown.utf8), file: file)
    #expect(profile == again)
    IntendedDifference.report(losses(shown, profile), in: file)
  }

  /// What was shown of a built-in profile reads, and the profile of today has all its settings.
  @Test(arguments: OldVersion.names(in: "profiles/builtin", ending: ".shown"))
  func aBuiltInProfileMeansTheSame(name: String) throws {
    let file = "profiles/builtin/\(name).shown"
    let shown = try OldVersion.text(file)
    let kept = try ProfileReader.read(Array(shown.utf8), file: file)
    let now = try #require(ProfileStore.builtIn.profile(named: name), "the profile \(name) is gone")
    IntendedDifference.report(losses(shown, kept) + losses(shown, now), in: file)
  }

  /// The files have every key that there was.
  @Test func everyKeyIsThere() throws {
    let files = try OldVersion.names(in: "profiles/user", ending: ".yaml").map {
      try OldVersion.text("profiles/user/\($0).yaml")
    }
    for key in [
      "name", "description", "match", "usb", "vendor", "product", "interface_class", "manufacturer", "model", "serial",
      "by_id", "driver", "transport", "prefer", "tty", "baud", "data_bits", "parity", "stop_bits", "flow", "dtr", "rts",
      "rs485", "rts_after", "before", "after", "receive", "low_latency", "settle", "interface", "alternate",
      "endpoints", "in", "out", "shape", "protocols", "pacing", "gap", "window", "policies", "reconnect", "retry",
      "enabled", "tries", "interval", "backoff", "longest", "max_attached", "idle_close",
    ] {
      #expect(files.contains { $0.contains("\(key):") }, "\(key)")
    }
  }
}
