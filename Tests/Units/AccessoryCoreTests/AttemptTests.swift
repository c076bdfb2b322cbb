// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@Suite struct AttemptTests {
  private let failure = AccessoryError(.disconnected, "unplugged")

  @Test func whatSucceedsIsNotCleanedUp() async throws {
    var steps: [String] = []
    let value = try await attempt { () throws(AccessoryError) in
      steps.append("body")
      return 7
    } onFailure: { _ in
      steps.append("clean up")
    }
    #expect(value == 7)
    #expect(steps == ["body"])
  }

  @Test func aFailureIsCleanedUpBeforeItIsThrown() async {
    var steps: [String] = []
    await #expect(throws: failure) {
      try await attempt { () throws(AccessoryError) in
        steps.append("body")
        throw failure
      } onFailure: { error in
        await Task.yield()
        steps.append("clean up after \(error.message)")
      }
    }
    #expect(steps == ["body", "clean up after unplugged"])
  }

  @Test func inEitherCaseTheEndRunsOnce() async throws {
    var ends = 0
    #expect(
      await attempt {
        7
      } finally: {
        ends += 1
      } == 7)
    await #expect(throws: failure) {
      try await attempt { () throws(AccessoryError) in
        throw failure
      } finally: {
        ends += 1
      }
    }
    #expect(ends == 2)
  }

  @Test func anotherWayIsTakenOnlyAfterAFailure() async throws {
    #expect(
      await attempt { () throws(AccessoryError) in
        7
      } or: { _ in
        8
      } == 7)
    let kind = await attempt { () throws(AccessoryError) -> AccessoryError.Kind in
      throw failure
    } or: {
      $0.kind
    }
    #expect(kind == .disconnected)
  }

  /// The closures run where the caller runs, and may use what only it may use.
  @Test func itStaysOnTheActorOfItsCaller() async throws {
    #expect(await Counter().countTwice() == 2)
  }

  private actor Counter {
    private var count = 0

    func countTwice() async -> Int {
      await attempt { () throws(AccessoryError) in
        count += 1
        throw AccessoryError(.busy, "once more")
      } or: { _ in
        count += 1
      }
      return count
    }
  }
}
