// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryLink
import AccessoryProtocols

extension DescribedAccessory {
  /// How long readings wait for messages that the accessory sends by itself, unless the description's timeout is longer.
  public static let messageTimeout = Duration.seconds(3)

  /// Details of the protocol and the connection.
  public var protocolDetails: ProtocolDetails? {
    ProtocolDetails(
      name: description.name, largestPayload: description.framings.map(\.limit).max() ?? 0, window: 1,
      unreadableFields: unreadableFields &+ latestValues.impossibleValues)
  }

  private var unreadableFields: UInt64 {
    let rules = link.exchange
    return unit.map { rules.unreadableFields(of: $0) } ?? rules.unreadableFields
  }

  /// Asks for its identity. Fields that the protocol doesn't have, or the accessory doesn't answer, stay empty.
  public func identify() async throws(AccessoryError) -> AccessoryIdentity { try await readIdentity().value }

  /// Asks for its identity, and says what it lacks.
  public func readIdentity() async throws(AccessoryError) -> Read<AccessoryIdentity> {
    guard description.tells(DescribedPart.isIdentity) else { return Read(AccessoryIdentity(), age: .zero) }
    // Also requests for data that never changes, which the plan doesn't poll.
    return try await refreshed(DescribedPart.isIdentity, others: description.requestsForIdentity) {
      AccessoryIdentity(described: $0 + $1)
    }
  }

  /// Asks for its status. Returns an unknown status when the protocol has none.
  public func status() async throws(AccessoryError) -> AccessoryStatus { try await readStatus().value }

  /// Asks for its status, and says what it lacks.
  public func readStatus() async throws(AccessoryError) -> Read<AccessoryStatus> {
    guard description.tells(DescribedPart.isStatus) else { return Read(AccessoryStatus(), age: .zero) }
    return try await refreshed(DescribedPart.isStatus) { AccessoryStatus(described: $0 + $1) }
  }

  /// Asks for its battery. Throws `unsupported` when the protocol doesn't report one.
  public func battery() async throws(AccessoryError) -> BatteryReading { try await readBattery().value }

  /// Asks for its battery, and says what it lacks. Throws as `battery` does.
  public func readBattery() async throws(AccessoryError) -> Read<BatteryReading> {
    guard description.tells(DescribedPart.isBattery) else {
      throw AccessoryError(.unsupported, "\(label) speaks \(description.name), which reports no battery")
    }
    return try await refreshed(DescribedPart.isBattery) { BatteryReading(described: $0, derived: $1) }
  }

  /// Makes the plan's requests that have values, and returns all values except those of status, battery and identity.
  /// Throws `unsupported` when the protocol has none.
  public func values() async throws(AccessoryError) -> [AccessoryValue] { try await readValues().value }

  /// The same, with what the values lack.
  public func readValues() async throws(AccessoryError) -> Read<[AccessoryValue]> {
    guard description.tells(DescribedPart.isValue) else {
      throw AccessoryError(.unsupported, "\(label) reports no values beside its status and battery")
    }
    return try await refreshed(DescribedPart.isValue) { [importance = description.importance] in
      AccessoryValue.all(described: $0, derived: $1, importance: importance)
    }
  }

  fileprivate var toldValues: [AccessoryValue] {
    let (reported, derived) = latestValues.values(now: clock.bootTime)
    return AccessoryValue.all(described: reported, derived: derived, importance: description.importance)
  }

  /// The messages that the accessory sends by itself. A message with battery fields gives the battery, any other its
  /// values. A message with status fields also gives the status, if that has changed.
  public func news() -> EventStream<AccessoryNews> {
    guard follower != nil else { return share?.ending(link.news()) ?? link.news() }
    let lastStatus = Locked<AccessoryStatus?>(nil)
    let news = told.stream().gathered(on: clock) { MessageKind($0.message) }.spread { [self] group -> [AccessoryNews] in
      guard let last = group.last else { return [] }
      let (reported, derived) = last.values.values(now: last.time)
      var (tellsStatus, tellsBattery, values) = (false, false, [DescribedValue]())
      for message in group.map(\.message) {
        let names = message.values.map(\.name) + description.names(derivedFrom: Set(message.values.map(\.name)))
        if names.contains(where: DescribedPart.isStatus) { tellsStatus = true }
        if names.contains(where: DescribedPart.isBattery) { tellsBattery = true } else { values += message.values }
      }
      var news: [AccessoryNews] = []
      if tellsStatus {
        let status = AccessoryStatus(described: reported + derived)
        let isNew = lastStatus.withLock { last in
          defer { last = status }
          return last != status
        }
        if isNew { news.append(.status(status)) }
      }
      if tellsBattery { news.append(.battery(BatteryReading(described: reported, derived: derived))) }
      if !tellsBattery || !values.isEmpty {
        let told = AccessoryValue.all(
          described: values + latestValues.takeExpired(now: clock.bootTime), derived: [],
          importance: description.importance)
        if !told.isEmpty { news.append(.values(told)) }
      }
      return news.isEmpty ? [.other] : news
    }
    return share?.ending(news) ?? news
  }

  // MARK: - Requests

  /// Makes the plan's requests whose replies have a wanted field, in the plan's order, and then others. If there are none,
  /// or the field is still unknown, waits for messages that the accessory sends by itself. Throws the first error when nothing
  /// of this is answered, except for `others`. Returns what `make` makes of the reported and the derived values, with what it lacks.
  private func refreshed<Value>(
    _ isWanted: @escaping @Sendable (String) -> Bool, others: [Int]? = nil,
    _ make: (_ reported: [DescribedValue], _ derived: [DescribedValue]) -> Value
  ) async throws(AccessoryError) -> Read<Value> {
    let wanted = description.sources(of: isWanted)
    var requests: [Int] = []
    for request in description.plannedRequests where !requests.contains(request) && tells(request, wanted) {
      requests.append(request)
    }
    // What never changes isn't in the plan: it is asked for once.
    requests +=
      others ?? description.requestsForIdentity.filter { tells($0, wanted) && latestValues.values(of: [$0]).isEmpty }
    // An identity that isn't told isn't asked for again and again.
    let asked = requests.isEmpty ? AskedRequests() : try await ask(all: requests, isWanted: others == nil)
    let isKnown = latestValues.knows(isWanted, now: clock.bootTime)
    if let failure = asked.failures.first?.error, asked.answered.isEmpty, others == nil {
      // What the accessory sends by itself is told nevertheless.
      guard isKnown, latestValues.isTelling(now: clock.bootTime) else { throw failure }
    }
    var missing: String?
    if requests.isEmpty || !isKnown && others == nil { missing = try await awaitNews(of: isWanted) }
    var missed = description.requests.indices.filter { request in
      asked.failures.contains { $0.request == request } || memory.withLock { $0.isLost(request) }
    }
    if !missed.isEmpty {
      // Also what comes with a request that isn't in the plan, and what says how a reply is to be read.
      let needed = wanted.union(description.conditions(of: wanted))
      let told = missed.filter { tells($0, needed) && !requests.contains($0) }
      missed = requests.filter(missed.contains) + told
    }
    let (reported, derived) = latestValues.values(now: clock.bootTime)
    return Read(make(reported, derived), age: .zero).lacking(silence(of: missed) ?? missing).lacking(
      latestValues.implausibleNumbers)
  }

  /// Makes the planned requests for values that say how the reply to this request is to be read, such as the number of its sensors, where
  /// they aren't known yet. Without an answer the reply is read without them.
  func learnWhatTells(_ request: Int) async throws(AccessoryError) {
    guard let reply = description.requests[request].reply else { return }
    for name in Set(description.conditions(in: reply)).sorted()
    where !latestValues.knows({ $0 == name }, now: clock.bootTime) {
      guard let source = description.plannedRequests.first(where: { tells($0, [name]) }), source != request else {
        continue
      }
      do throws(AccessoryError) {
        try await ask(source)
      } catch {
        guard error.isOfOneRequest else { throw error }
      }
    }
  }

  /// Whether the reply to this request has one of these fields.
  private func tells(_ request: Int, _ wanted: Set<String>) -> Bool {
    description.requests[request].reply.map { description.needed($0).contains { wanted.contains($0) } } ?? false
  }

  /// When a message with fields of this part came last.
  public func toldTime(of part: AccessoryPoll.Part) -> MonotonicTime? { latestValues.toldTime(of: part) }

  /// What came in place of known messages, for an error; empty where nothing did.
  private var strangers: String {
    let (rules, count) = (link.exchange, link.statistics.link.unexpected)
    guard count > 0 else { return "" }
    let numbers = rules.stranger.map { "\($0.name) \($0.number)" }.joined(separator: ", ")
    let last = numbers.isEmpty ? "" : ", the last with \(numbers)"
    return ", but \(count) that \(description.name) doesn't describe\(last)"
  }

  /// Waits until the accessory has sent a whole round of its messages or, if the description has no rounds, until a
  /// wanted value is known; at most until the timeout. Returns what didn't come of a round. Returns normally when only other values
  /// are known by then: the accessory may not know the wanted one. Throws `timedOut` when the accessory sent nothing at all.
  private func awaitNews(of isWanted: @escaping @Sendable (String) -> Bool) async throws(AccessoryError) -> String? {
    guard description.messages.contains(where: \.isPushed) else { return nil }
    let (latestValues, clock, round) = (latestValues, clock, description.plan.round)
    let isComplete: @Sendable () -> Bool = {
      round == nil
        ? latestValues.knows(isWanted, now: clock.bootTime) : latestValues.hasWholeRound(now: clock.bootTime)
    }
    let changes = latestValues.changes()
    guard !isComplete() else { return nil }
    let waiter = Task {
      var news = changes.makeAsyncIterator()
      while (try? await news.next()) != nil, !isComplete() {}
    }
    let limit = max(Self.messageTimeout, .nanoseconds(description.plan.timeout))
    let token = clock.schedule(at: clock.now + limit) { waiter.cancel() }
    await withTaskCancellationHandler {
      await waiter.value
    } onCancel: {
      waiter.cancel()
    }
    clock.cancel(token)
    if let failure = latestValues.failure ?? latestValues.disbelief { throw failure }
    if Task.isCancelled { throw AccessoryError(.cancelled, "a request to \(label) was cancelled") }
    guard latestValues.knows({ _ in true }, now: clock.bootTime) else {
      throw AccessoryError(
        .timedOut,
        "\(label) sent none of the messages that \(description.name) accessories send by themselves for \(limit)"
          + strangers + (unanswered.map { "; \($0)" } ?? ""))
    }
    if let round, !isComplete() {
      let what =
        latestValues.hasBegunRound
        ? "the rest of the round of messages that begins with \(round)"
        : "the message with \(round), with which a round begins,"
      return "\(what) did not come from \(label) within \(limit), so values may be missing"
    }
    return nil
  }
}

/// What a newer message replaces: the same message with the same values, of the same unit.
private struct MessageKind: Hashable {
  private let message: Int
  private let unit: Int?
  private let names: [String]

  init(_ message: DecodedMessage) {
    (self.message, unit, names) = (message.message, message.unit, message.values.map(\.name))
  }
}

extension ProtocolDescription {
  /// The plan's requests for readings, in its order.
  var plannedRequests: [Int] { plan.polls.flatMap(\.requests) + (plan.identify.map { [$0] } ?? []) }

  /// Requests without arguments whose replies have fields of the identity, and which aren't in the plan.
  var requestsForIdentity: [Int] {
    let planned = Set(plannedRequests)
    return requests.indices.filter { index in
      let request = requests[index]
      guard let reply = request.reply, request.arguments.isEmpty, !request.isWrite, !planned.contains(index) else {
        return false
      }
      return messages[reply].fields.contains { DescribedPart.isIdentity($0.name) }
    }
  }

  /// The names of the fields that the wanted values come from, directly or by derivation.
  func sources(of isWanted: (String) -> Bool) -> Set<String> {
    var names: Set<String> = []
    for message in messages { for field in message.fields where isWanted(field.name) { names.insert(field.name) } }
    // A derivation uses only earlier ones, so their sources are collected from the last to the first.
    for derivation in derived.reversed() where isWanted(derivation.name) || names.contains(derivation.name) {
      names.formUnion(derivation.formula.names)
    }
    // The count of pieces in a reply comes from another reply's field.
    for message in messages where message.fields.contains(where: { names.contains($0.name) }) {
      if let count = message.pieces?.count { names.insert(count) }
    }
    return names
  }

  /// The fields of other messages on which it depends how the messages with these fields are read.
  fileprivate func conditions(of names: Set<String>) -> Set<String> {
    let told = messages.indices.filter { messages[$0].fields.contains { names.contains($0.name) } }
    return Set(told.flatMap(conditions(in:)))
  }

  /// The fields of other messages on which it depends how a message is read, such as the accessory's version, or the number of its pieces.
  fileprivate func conditions(in message: Int) -> [String] {
    func conditions(_ steps: [Step]) -> [String] {
      steps.flatMap { step -> [String] in
        switch step {
        case .when(let condition, let steps): conditions(steps) + (condition.isElsewhere ? [condition.field] : [])
        case .group(let steps, _), .tail(let steps): conditions(steps)
        case .field, .skip: []
        }
      }
    }
    let count = messages[message].pieces?.count.map { [$0] } ?? []
    guard case .fields(let steps) = messages[message].body else { return count }
    return count + conditions(steps)
  }

  /// The names of the values that are derived from these.
  func names(derivedFrom names: Set<String>) -> [String] {
    var known = names
    for derivation in derived where derivation.formula.names.contains(where: known.contains) {
      known.insert(derivation.name)
    }
    return Array(known.subtracting(names))
  }
}

extension ProtocolDescription {
  /// Whether the protocol has a wanted value at all.
  fileprivate func tells(_ isWanted: (String) -> Bool) -> Bool {
    derived.contains { isWanted($0.name) }
      || messages.contains { $0.fields.contains { !$0.isHidden && isWanted($0.name) } }
  }

  /// The abilities that no accessory with this protocol has.
  var lacks: Set<DriverAbility> {
    var lacks: Set<DriverAbility> = [.files, .requests]
    if !tells(DescribedPart.isStatus) { lacks.insert(.status) }
    if !tells(DescribedPart.isBattery) { lacks.insert(.battery) }
    if !tells(DescribedPart.isValue) { lacks.insert(.values) }
    return lacks
  }
}

extension Accessory {
  /// The values that a described accessory has told already, without asking it: what came with other readings.
  package var knownValues: [AccessoryValue] {
    if let guarded = self as? GuardedAccessory { return guarded.base.knownValues.map(\.bounded) }
    return (self as? DescribedAccessory)?.toldValues ?? []
  }
}
