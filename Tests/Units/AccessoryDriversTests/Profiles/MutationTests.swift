// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryFamilies
import TestSupport
import Testing

@testable import AccessoryDrivers

/// Texts that were damaged in all ways: each is read or refused, with a place within it, and nothing traps.
@Suite struct MutationTests {
  @Test func damagedProfilesAreReadOrRefusedWithPlaces() {
    var random = SeededGenerator(seed: 7)
    let original = Array(ProfileReaderTests.whole.utf8)
    let pieces = [
      "&a ", "*a", "!!x ", "<<: ", "---\n", "[", "{", "\"", "\t", "\n  ", ": ", "9999999999", "-", "\u{85}",
    ]
    var outcomes = (read: 0, refused: 0)
    for _ in 0..<4_000 {
      var bytes = original
      for _ in 0...Int.random(in: 0...2, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0...4, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(contentsOf: pieces.randomElement(using: &random)!.utf8, at: place)
        case 3: bytes.removeSubrange(place..<min(bytes.count, place + 40))
        default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 60)], at: place)
        }
      }
      do throws(ProfileProblems) {
        let profile = try ProfileReader.read(bytes, file: "f")
        outcomes.read += 1
        #expect((try? ProfileReader.read(Array(ProfileText.text(profile).utf8), file: "g")) == profile)
        #expect(profile.rules.allSatisfy { $0.overreachProblem == nil })
      } catch {
        outcomes.refused += 1
        #expect(!error.problems.isEmpty && error.problems.count <= 20)
        let lines = bytes.count { $0 == 0x0A || $0 == 0x0D || $0 == 0x85 || $0 == 0xA8 || $0 == 0xA9 } + 2
        for problem in error.problems {
          #expect((1...lines).contains(problem.line ?? 0) && (problem.column ?? 0) >= 1, "\(problem)")
        }
      }
    }
    // Damage in a description or a serial number is none.
    #expect(outcomes.read > 50 && outcomes.refused > 1_000, "\(outcomes)")
  }
}
