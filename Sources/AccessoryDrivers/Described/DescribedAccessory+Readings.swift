// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

extension DescribedAccessory {
  /// How long is waited for what the accessory sends by itself, unless the description has a longer time limit.
  public static let patience = Duration.seconds(3)

  /// What contact has told of it.
  public var protocolDetails: ProtocolDetails? {
    ProtocolDetails(
      name: description.name, largestPayload: description.framings.map(\.limit).max() ?? 0, window: 1,
      unreadableFields: unreadableFields &+ picture.impossibleValues)
  }

  private var unreadableFields: UInt64 {
    let rules = link.exchange
    return unit.map { rules.unreadableFields(of: $0) } ?? rules.unreadableFields
  }

  /// Asks who it is, as far as its protocol says that.
  public func identify() async throws(AccessoryError) -> AccessoryIdentity {
    guard description.tells(DescribedPart.isIdentity) else { return AccessoryIdentity() }
    try await refresh(DescribedPart.isIdentity)
    // What its plan doesn't ask, as it never changes. Not every model answers, and then it isn't asked for more.
    for request in description.requestsForIdentity where !isNotKnown(request) {
      do throws(AccessoryError) {
        try await ask(request)
      } catch {
        if isRefusal(error, of: request) { continue }
        guard error.kind == .timedOut else { throw error }
        break
      }
    }
    let (reported, derived) = picture.values(now: clock.bootTime)
    return AccessoryIdentity(described: reported + derived)
  }

  /// Asks what it is doing, as far as its protocol says that.
  public func status() async throws(AccessoryError) -> AccessoryStatus {
    guard description.tells(DescribedPart.isStatus) else { return AccessoryStatus(state: .notInitialized) }
    try await refresh(DescribedPart.isStatus)
    let (reported, derived) = picture.values(now: clock.bootTime)
    return AccessoryStatus(described: reported + derived)
  }

  /// Asks for its battery. Throws `unsupported` when its protocol says nothing of one.
  public func battery() async throws(AccessoryError) -> BatteryReading {
    guard description.tells(DescribedPart.isBattery) else {
      throw AccessoryError(.unsupported, "\(label) speaks \(description.name), which tells nothing of a battery")
    }
    try await refresh(DescribedPart.isBattery)
    let (reported, derived) = picture.values(now: clock.bootTime)
    return BatteryReading(described: reported, derived: derived)
  }

  /// Asks for everything that its plan asks, and gives what is neither status nor battery nor identity.
  public func values() async throws(AccessoryError) -> [AccessoryValue] {
    guard description.tells(DescribedPart.isValue) else {
      throw AccessoryError(.unsupported, "\(label) tells no values: only what status and battery show")
    }
    try await refresh(DescribedPart.isValue)
    let (reported, derived) = picture.values(now: clock.bootTime)
    return AccessoryValue.all(described: reported, derived: derived)
  }

  /// What the accessory sends by itself: its battery or its status when the message has something of it, else its values.
  public func news() -> EventStream<AccessoryNews> {
    let (picture, clock, description, unit) = (picture, clock, description, unit)
    let events = link.events()
    let news = events.converted { (message: DecodedMessage) -> AccessoryNews? in
      guard message.isFrom(unit) else { return nil }
      picture.take(message, at: clock.bootTime, isFirst: false)
      let (reported, derived) = picture.values(now: clock.bootTime)
      let names = message.values.map(\.name) + description.names(derivedFrom: Set(message.values.map(\.name)))
      if names.contains(where: DescribedPart.isBattery) {
        return .battery(BatteryReading(described: reported, derived: derived))
      }
      if names.contains(where: DescribedPart.isStatus) {
        return .status(AccessoryStatus(described: reported + derived))
      }
      let values = AccessoryValue.all(described: message.values, derived: [])
      return values.isEmpty ? .other : .values(values)
    }
    return share?.ending(news) ?? news
  }

  // MARK: - What is asked for

  /// Makes the requests of the plan whose replies have something of this, in the plan's order; where there are none, waits
  /// for what the accessory sends by itself.
  private func refresh(_ isWanted: @escaping @Sendable (String) -> Bool) async throws(AccessoryError) {
    let wanted = description.sources(of: isWanted)
    var asked: Set<Int> = []
    // Not every model has everything: what is refused is unknown, unless all is.
    var refusal: AccessoryError?
    var isAnswered = false
    for request in description.plannedRequests where asked.insert(request).inserted {
      guard let reply = description.requests[request].reply,
        description.needed(reply).contains(where: { wanted.contains($0) }), !isNotKnown(request)
      else { continue }
      do throws(AccessoryError) {
        try await ask(request)
        isAnswered = true
      } catch {
        guard isRefusal(error, of: request) else { throw error }
        refusal = error
      }
    }
    if let refusal, !isAnswered { throw refusal }
    if asked.isEmpty || !picture.knows(isWanted, now: clock.bootTime) { try await awaitNews(of: isWanted) }
  }

  /// Waits until something of this is known. Nothing comes of it when the accessory doesn't know it itself.
  private func awaitNews(of isWanted: @escaping @Sendable (String) -> Bool) async throws(AccessoryError) {
    guard description.messages.contains(where: \.isPushed) else { return }
    let (picture, clock, unit) = (picture, clock, unit)
    let events = link.events()
    guard !picture.knows(isWanted, now: clock.bootTime) else { return }
    let waiter = Task { () -> AccessoryError? in
      do throws(AccessoryError) {
        var iterator = events.makeAsyncIterator()
        while let message = try await iterator.next() {
          guard message.isFrom(unit) else { continue }
          picture.take(message, at: clock.bootTime, isFirst: false)
          if picture.knows(isWanted, now: clock.bootTime) { break }
        }
        return nil
      } catch {
        return error
      }
    }
    let limit = max(Self.patience, .nanoseconds(description.plan.timeout))
    let token = clock.schedule(at: clock.now + limit) { waiter.cancel() }
    let failure = await withTaskCancellationHandler {
      await waiter.value
    } onCancel: {
      waiter.cancel()
    }
    clock.cancel(token)
    if let failure { throw failure }
    if Task.isCancelled { throw AccessoryError(.cancelled, "a request to \(label) was cancelled") }
    guard picture.knows({ _ in true }, now: clock.bootTime) else {
      throw AccessoryError(
        .timedOut, "\(label) sent nothing that \(description.name) accessories send by themselves for \(limit)")
    }
  }
}

extension ProtocolDescription {
  /// The requests that the plan makes for readings, in its order.
  var plannedRequests: [Int] { plan.polls.flatMap(\.requests) + (plan.identify.map { [$0] } ?? []) }

  /// Requests without arguments that aren't planned and tell who the accessory is.
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

  /// The names of fields that a reply has, hidden ones too.
  func needed(_ message: Int) -> [String] { messages[message].fields.map(\.name) }

  /// The names of fields from which the wanted values come, directly or by derivation.
  func sources(of isWanted: (String) -> Bool) -> Set<String> {
    var names: Set<String> = []
    for message in messages { for field in message.fields where isWanted(field.name) { names.insert(field.name) } }
    // Derived values come in order, so what a later one needs is found from the last on.
    for derivation in derived.reversed() where isWanted(derivation.name) || names.contains(derivation.name) {
      names.formUnion(derivation.rule.sources)
    }
    // Counts of a reply's pieces come from other replies.
    for message in messages where message.fields.contains(where: { names.contains($0.name) }) {
      if let count = message.pieces?.count { names.insert(count) }
    }
    return names
  }

  /// The names of values that follow from these.
  func names(derivedFrom names: Set<String>) -> [String] {
    var known = names
    for derivation in derived where derivation.rule.sources.contains(where: known.contains) {
      known.insert(derivation.name)
    }
    return Array(known.subtracting(names))
  }
}

extension ProtocolDescription {
  /// Whether something of this is told at all.
  fileprivate func tells(_ isWanted: (String) -> Bool) -> Bool {
    derived.contains { isWanted($0.name) }
      || messages.contains { $0.fields.contains { !$0.isHidden && isWanted($0.name) } }
  }

  /// What no accessory that speaks this has.
  var lacks: Set<DriverAbility> {
    var lacks: Set<DriverAbility> = [.files, .requests]
    if !tells(DescribedPart.isBattery) { lacks.insert(.battery) }
    if !tells(DescribedPart.isValue) { lacks.insert(.values) }
    return lacks
  }
}
