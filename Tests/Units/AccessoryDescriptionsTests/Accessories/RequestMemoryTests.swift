// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// When a request that an accessory doesn't answer is asked again, and when its values are lost.
@Suite struct RequestMemoryTests {
  private static let silence = AccessoryError(.timedOut, "nobody answers")
  private static let refusal = AccessoryError(.refused, "no")

  private var memory = RequestMemory()
  private var now = MonotonicTime(nanoseconds: 0)

  private mutating func fails(
    _ request: Int, _ error: AccessoryError = silence, isOptional: Bool = false
  ) -> Bool {
    memory.failed(request, error, isOptional: isOptional, now: now)
  }

  private func sentence(of requests: [Int]? = nil) -> String? {
    memory.sentence(of: requests, label: "acc") { ["basic", "cells", "limits"][$0] }
  }

  /// One lost reply among answered ones doesn't take the last values away.
  @Test mutating func anAnsweredRequestIsLostAfterThreeSilences() {
    memory.answered(0)
    #expect(!fails(0) && !fails(0) && !memory.isLost(0) && !memory.rests(0, now: now) && sentence() == nil)
    #expect(fails(0) && memory.isLost(0) && memory.rests(0, now: now))
    #expect(sentence() == "acc does not answer basic, which it is asked rarely now, so values may be missing or old")
    memory.answered(0)
    #expect(!memory.isLost(0) && !memory.rests(0, now: now) && sentence() == nil)
  }

  @Test mutating func whatWasNeverAnsweredIsNamedAtOnce() {
    #expect(fails(0) && fails(1))
    #expect(sentence() == "acc does not answer basic and cells, so values may be missing or old")
    #expect(sentence(of: [1]) == "acc does not answer cells, so values may be missing or old")
    #expect(fails(2, Self.refusal))
    #expect(sentence(of: [2]) == "acc refuses limits, so values may be missing or old")
    #expect(!memory.rests(2, now: now), "a refusal costs no time")
  }

  /// The pause doubles, and has a limit.
  @Test mutating func aSilentRequestIsAskedRarely() {
    for _ in 1...RequestMemory.tolerated { _ = fails(0) }
    for pause in [60, 120, 240, 480, 600, 600] {
      #expect(memory.rests(0, now: now + .seconds(pause) + .nanoseconds(-1)))
      now = now + .seconds(pause)
      #expect(!memory.rests(0, now: now))
      _ = fails(0)
    }
  }

  /// Not every model has it, so nothing is missing.
  @Test mutating func anOptionalRequestIsNotNamed() {
    #expect(fails(0, isOptional: true) && fails(1, Self.refusal, isOptional: true))
    #expect(sentence() == nil && sentence(of: [0, 1]) == nil)
    #expect(memory.rests(0, now: now + .seconds(599)) && !memory.rests(0, now: now + .seconds(600)))
    #expect(memory.rests(1, now: now + .seconds(86_400)))
    memory.answered(0)
    for _ in 1...RequestMemory.tolerated { _ = fails(0, isOptional: true) }
    #expect(sentence()?.contains("basic") == true, "this model has it")
  }

  /// After a silence of the whole accessory everything is asked again.
  @Test mutating func theFirstAnswerAfterASilenceEndsAllPauses() {
    for _ in 1...RequestMemory.tolerated { _ = fails(0) }
    memory.answered(1)
    #expect(memory.rests(0, now: now))
    memory.everythingFailed()
    memory.answered(1)
    #expect(!memory.rests(0, now: now))
  }

  @Test mutating func theSubstituteOfALostRequestIsAsked() {
    memory.answered(0)
    memory.replace(1, by: 0)
    #expect(memory.rests(1, now: now + .seconds(86_400)) && sentence() == nil)
    for _ in 1...RequestMemory.tolerated { _ = fails(0) }
    #expect(!memory.rests(1, now: now))
  }

  @Test mutating func onlyTheFirstSilenceTakesAllTries() {
    #expect(memory.tries(0, besideSilent: false) == nil && memory.tries(1, besideSilent: true) == 1)
    memory.answered(1)
    #expect(memory.tries(1, besideSilent: true) == nil, "it has answered")
    _ = fails(0)
    #expect(memory.tries(0, besideSilent: false) == 1)
  }
}
