// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryLink
import AccessoryProtocols

extension ProtocolDescription {
  /// The plan's polls, which the service repeats. Each is named after its requests.
  var accessoryPolls: [AccessoryPoll] {
    plan.polls.map { poll in
      AccessoryPoll(
        name(of: poll), every: poll.interval.map { .nanoseconds($0) },
        parts: parts(of: namesAnswered(by: poll.requests)))
    }
  }

  /// A poll's name: the names of its requests, as in `basic`, or joined by a hyphen, as in `basic-cells`.
  func name(of poll: Poll) -> String { poll.requests.map { requests[$0].name }.joined(separator: "-") }

  /// The names of the values in the replies to these requests, and of the values derived from them.
  func namesAnswered(by asked: [Int]) -> Set<String> {
    let names = Set(
      asked.compactMap { requests[$0].reply }.flatMap { messages[$0].fields.filter { !$0.isHidden }.map(\.name) })
    let sources = Set(asked.compactMap { requests[$0].reply }.flatMap { messages[$0].fields.map(\.name) })
    return names.union(self.names(derivedFrom: sources))
  }

  private func parts(of names: Set<String>) -> Set<AccessoryPoll.Part> {
    var parts: Set<AccessoryPoll.Part> = []
    for name in names {
      if DescribedPart.isBattery(name) { parts.insert(.battery) }
      if DescribedPart.isStatus(name) { parts.insert(.status) }
      if DescribedPart.isValue(name) { parts.insert(.values) }
    }
    return parts
  }
}

extension DescribedAccessory {
  /// Makes the requests of one of the plan's polls. Returns the status, battery and values that their replies concern; what
  /// the accessory doesn't answer any more is unknown in them. Throws `timedOut` when the accessory answers nothing,
  /// `disconnected`, and `refused` when it refuses all.
  public func poll(_ poll: AccessoryPoll) async throws(AccessoryError) -> [AccessoryNews] {
    let description = description
    guard let planned = description.plan.polls.first(where: { description.name(of: $0) == poll.name }) else {
      return []
    }
    let asked = try await ask(all: planned.requests, isWanted: false)
    let lost = planned.requests.filter { request in memory.withLock { $0.isLost(request) } }
    let told = asked.answered + lost
    let now = clock.bootTime
    let read = latestValues.values(of: told) + latestValues.takeExpired(now: now)
    if read.isEmpty, let failure = asked.failures.first?.error, failure.kind != .timedOut { throw failure }
    let (reported, derived) = latestValues.values(now: now)
    let names = description.namesAnswered(by: told)
    var news: [AccessoryNews] = []
    if names.contains(where: DescribedPart.isStatus) {
      news.append(.status(AccessoryStatus(described: reported + derived)))
    }
    if names.contains(where: DescribedPart.isBattery) {
      news.append(.battery(BatteryReading(described: reported, derived: derived)))
    }
    let values = AccessoryValue.all(
      described: read, derived: derived.filter { names.contains($0.name) }, importance: description.importance)
    if !values.isEmpty { news.append(.values(values)) }
    return news
  }
}
