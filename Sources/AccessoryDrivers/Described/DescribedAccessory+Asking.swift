// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

/// Requests that were made together, and what came of them.
struct AskedRequests {
  var answered: [Int] = []
  var failures: [(request: Int, error: AccessoryError)] = []
  /// What was expected of the replies that didn't come.
  var expected: [String: String] = [:]
  /// Whether the accessory has said anything.
  var isThere = false
}

extension DescribedAccessory {
  /// Makes these requests, one after another. What isn't answered or is refused doesn't hide the rest. Requests that the
  /// accessory has left unanswered several times are skipped until it is their time again; if that is so of all, the first
  /// one is made nevertheless (`isWanted`), or one that shows whether the accessory is there.
  ///
  /// Throws `disconnected` and the like, and the first error when the accessory answers nothing at all, not even the request
  /// that it has answered last, and sends nothing by itself.
  func ask(all requests: [Int], isWanted: Bool) async throws(AccessoryError) -> AskedRequests {
    var asked = AskedRequests()
    let now = clock.now
    var due = requests.filter { request in !memory.withLock { $0.rests(request, now: now) } }
    if due.isEmpty { due = (isWanted ? requests.first : witness(beside: []) ?? requests.first).map { [$0] } ?? [] }
    for request in due {
      do throws(AccessoryError) {
        // The first one may have to wake the accessory.
        let isBesideSilent = asked.failures.contains { $0.error.kind == .timedOut }
        let tries = request == due.first ? nil : memory.withLock { $0.tries(request, besideSilent: isBesideSilent) }
        try await ask(request, tries: tries)
        if requests.contains(request) { asked.answered.append(request) }
        asked.isThere = true
      } catch {
        guard error.isOfOneRequest else { throw error }
        asked.failures.append((request, error))
        if error.kind == .refused || latestValues.isTelling(now: clock.bootTime) { asked.isThere = true }
        guard !asked.isThere, let witness = witness(beside: asked.failures.map(\.request)) else { continue }
        asked.isThere = try await isAnswered(anyOf: [witness])
        if !asked.isThere { break }
      }
    }
    if let first = asked.failures.first, !asked.isThere {
      memory.withLock { $0.everythingFailed() }
      throw first.error
    }
    note(asked.failures)
    return asked
  }

  /// The request that was answered last, unless it is one of these.
  private func witness(beside requests: [Int]) -> Int? {
    memory.withLock(\.lastAnswered).flatMap { requests.contains($0) ? nil : $0 }
  }

  /// Whether one of these requests is answered or refused, each sent once.
  func isAnswered(anyOf requests: [Int]) async throws(AccessoryError) -> Bool {
    for request in requests {
      do throws(AccessoryError) {
        try await ask(request, tries: 1)
        return true
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
      let isOptional = description.requests[request].isOptional
      if memory.withLock({ $0.failed(request, error, isOptional: isOptional, now: clock.now) }) {
        latestValues.lose(request)
      }
    }
  }

  /// What the accessory doesn't answer or refuses, of these requests or of all.
  func silence(of requests: [Int]? = nil) -> String? {
    memory.withLock { $0.sentence(of: requests, label: label) { description.requests[$0].name } }
  }

  /// What the accessory doesn't answer at present.
  public var unanswered: String? { silence() }
}

extension AccessoryError {
  /// Whether the error concerns one request, and the accessory may answer others.
  var isOfOneRequest: Bool { [.timedOut, .refused, .badData].contains(kind) }
}
