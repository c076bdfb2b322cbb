// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import Testing

@testable import AccessorySimulator
@testable import FamilyAF1
@testable import FamilyAF1Simulator

@Suite struct FaultTests {
  private func line(drop: Double = 0, corrupt: Double = 0, seed: UInt64 = 7) -> FaultyLine {
    var faults = Faults()
    faults.drop = drop
    faults.corrupt = corrupt
    return FaultyLine(faults: faults, random: SeededGenerator(seed: seed))
  }

  private func fates(_ line: FaultyLine, _ count: Int = 1_000) -> [[UInt8]?] {
    var line = line
    return (0..<count).map { line.pass([UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: 1 + $0 % 40)) }
  }

  @Test func theSameSeedGivesTheSameFaults() {
    #expect(fates(line(drop: 0.3, corrupt: 0.3)) == fates(line(drop: 0.3, corrupt: 0.3)))
    #expect(fates(line(drop: 0.3, corrupt: 0.3)) != fates(line(drop: 0.3, corrupt: 0.3, seed: 8)))
  }

  /// The known first numbers of SplitMix64 for the seed 1234567: the sequence is the algorithm's, on every machine.
  @Test func theGeneratorsNumbersAreThoseOfSplitMix64() {
    var random = SeededGenerator(seed: 1_234_567)
    #expect(
      (0..<3).map { _ in random.next() } == [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
      ])
  }

  @Test func faultRatesOfZeroAndOneAreExact() {
    let whole = fates(line())
    #expect(whole.allSatisfy { frame in frame.map { Set($0).count == 1 } ?? false })
    #expect(fates(line(drop: 1)).allSatisfy { $0 == nil })
    #expect(fates(line(corrupt: 1)).allSatisfy { $0 != nil })
  }

  /// One bit, somewhere: what the checksums are to find.
  @Test func aDamagedFrameDiffersInOneBit() {
    let (whole, damaged) = (fates(line()), fates(line(corrupt: 1)))
    var places: Set<Int> = []
    for case (let before?, let after?) in zip(whole, damaged) {
      #expect(before.count == after.count)
      let differences = zip(before, after).map { ($0 ^ $1).nonzeroBitCount }
      #expect(differences.reduce(0, +) == 1)
      places.insert(differences.firstIndex(of: 1) ?? -1)
    }
    #expect(places.count > 30, "anywhere in the frame")
  }

  /// So that a run with damage added can be compared with one without.
  @Test func oneRateDoesNotChangeWhatAnotherDoes() {
    let lost = fates(line(drop: 0.4)).map { $0 == nil }
    #expect(fates(line(drop: 0.4, corrupt: 0.9)).map { $0 == nil } == lost)
    let count = lost.count { $0 }
    #expect((300...500).contains(count))
  }

  // MARK: - The battery

  @Test func aBatteryDrainsAtItsRate() {
    let start = AF1BatteryReply(level: .high, percent: 82, millivolts: 4_000, charge: .charging)
    let drain = BatteryDrain(from: start, rate: 2)
    #expect(drain.moment(ofLoss: 1) == .milliseconds(500))
    #expect(drain.moment(ofLoss: 82) == .seconds(41))
    #expect(drain.moment(ofLoss: 83) == nil)
    #expect(
      drain.reading(afterLoss: 2)
        == AF1BatteryReply(level: .high, percent: 80, millivolts: 3_982, charge: .discharging))
    #expect(drain.reading(afterLoss: 3).level == .normal)
    #expect(drain.reading(afterLoss: 61).level == .normal)
    #expect(drain.reading(afterLoss: 62).level == .low)
    #expect(drain.reading(afterLoss: 82).percent == 0)
    #expect(drain.reading(afterLoss: 500).percent == 0)
  }

  @Test func aBatteryWithoutDrainNeverLosesAPercent() {
    let start = AF1BatteryReply(level: .high, percent: 82, millivolts: 4_000, charge: .charging)
    #expect(BatteryDrain(from: start, rate: 0).moment(ofLoss: 1) == nil)
  }
}
