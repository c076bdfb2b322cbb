// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink

/// Requests that were made together, and what came of them.
struct AskedRequests {
  var answered: [Int] = []
  var failures: [(request: Int, error: AccessoryError)] = []
  /// What was expected of the replies that didn't come.
  var expected: [String: String] = [:]
  /// Whether the accessory has said anything.
  var isThere = false
}

/// Makes requests, and remembers which of them the accessory answers. What it doesn't answer hides nothing else.
protocol RequestMaker: Sendable {
  var clock: any TimerClock { get }
  /// Makes a request, and notes in the memory that it was answered. Returns false if nothing was asked. `tries` is how often it is sent
  /// at most; nil for the protocol's number.
  func make(_ request: Int, tries: Int?) async throws(AccessoryError) -> Bool
  /// Whether it can make this request.
  func knows(_ request: Int) -> Bool
  /// Whether an accessory that doesn't answer like this may be one of those that don't have the request.
  func isOptional(_ request: Int, _ error: AccessoryError) -> Bool
  /// The values of the request's reply aren't known any more.
  func lose(_ request: Int)
  /// Whether the accessory sends something by itself.
  var isTelling: Bool { get }
  func remember<Result>(_ body: (inout RequestMemory) -> Result) -> Result
}

extension RequestMaker {
  /// Makes these requests, one after another. What isn't answered or is refused doesn't hide the rest. Requests that the
  /// accessory has left unanswered several times are skipped until it is their time again; if that is so of all, the first
  /// one is made nevertheless (`isWanted`), or one that shows whether the accessory is there.
  ///
  /// Throws `disconnected` and the like, and the first error when the accessory answers nothing at all, not even the request
  /// that it has answered last, and sends nothing by itself.
  func ask(all requests: [Int], isWanted: Bool) async throws(AccessoryError) -> AskedRequests {
    var asked = AskedRequests()
    let now = clock.now
    var due = requests.filter { request in !remember { $0.rests(request, now: now) } }
    if due.isEmpty { due = (isWanted ? requests.first : witness(beside: []) ?? requests.first).map { [$0] } ?? [] }
    for request in due {
      do throws(AccessoryError) {
        // The first one may have to wake the accessory.
        let isBesideSilent = asked.failures.contains { $0.error.kind == .timedOut }
        let tries = request == due.first ? nil : remember { $0.tries(request, besideSilent: isBesideSilent) }
        guard try await make(request, tries: tries) else { continue }
        if requests.contains(request) { asked.answered.append(request) }
        asked.isThere = true
      } catch {
        guard error.isOfOneRequest else { throw error }
        asked.failures.append((request, error))
        if error.kind == .refused || isTelling { asked.isThere = true }
        guard !asked.isThere, let witness = witness(beside: asked.failures.map(\.request)) else { continue }
        asked.isThere = try await isAnswered(anyOf: [witness])
        if !asked.isThere { break }
      }
    }
    if let first = asked.failures.first, !asked.isThere {
      remember { $0.everythingFailed() }
      throw first.error
    }
    note(asked.failures)
    return asked
  }

  /// The request that was answered last, unless it is one of these or one for another reading.
  private func witness(beside requests: [Int]) -> Int? {
    remember { $0.lastAnswered }.flatMap { requests.contains($0) || !knows($0) ? nil : $0 }
  }

  /// Whether one of these requests is answered or refused, each sent once.
  func isAnswered(anyOf requests: [Int]) async throws(AccessoryError) -> Bool {
    for request in requests {
      do throws(AccessoryError) {
        if try await make(request, tries: 1) { return true }
      } catch {
        guard error.isOfOneRequest else { throw error }
        if error.kind == .refused { return true }
      }
    }
    return false
  }

  /// Remembers the failures of requests to an accessory that is there.
  func note(_ failures: [(request: Int, error: AccessoryError)]) {
    for (request, error) in failures {
      let isOptional = isOptional(request, error)
      if remember({ $0.failed(request, error, isOptional: isOptional, now: clock.now) }) { lose(request) }
    }
  }
}

extension AccessoryError {
  /// Whether the error concerns one request, and the accessory may answer others.
  package var isOfOneRequest: Bool { [.timedOut, .refused, .badData].contains(kind) }
}
