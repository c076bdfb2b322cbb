// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFleet
import CommandOutput

/// A command's connection with the broker.
struct FleetSession: Sendable {
  let reader: FleetReader
  private let options: FleetOptions
  private let broker: BrokerAddress
  private let follows: Bool

  /// Connects, runs `body`, and leaves the broker, also when `body` throws. With `follows`, what changes after the loading is kept for
  /// `follow`.
  static func with<Value: Sendable>(
    _ options: FleetOptions, follows: Bool = false, _ body: (FleetSession) async throws -> Value
  ) async throws -> Value {
    let settings = try await options.settings()
    let session = FleetSession(
      reader: FleetReader(settings), options: options, broker: settings.broker, follows: follows)
    return try await attempt {
      try await body(session)
    } finally: {
      await session.reader.close()
    }
  }

  // MARK: - Loading

  /// Loads a part of the fleet. Returns false when the broker didn't get done in time, which a note says.
  @discardableResult
  private func load(_ scope: FleetScope) async throws -> Bool {
    let limit = options.timeout.duration
    let (reader, broker) = (reader, broker)
    let isComplete = try await WaitingLine.during("waiting for \(broker)", limit: limit) {
      () async throws(AccessoryError) in try await reader.load(scope, within: limit)
    }
    if follows { await reader.follow() }
    if !isComplete {
      Output.note("\(broker) is still sending, so this list is incomplete: --timeout gives it more time.")
    }
    return isComplete
  }

  /// All accessories of the fleet, or of the gateway that the options name, in order.
  func all(_ parts: [FleetTopic.AccessoryPart] = [.availability, .state]) async throws -> (
    accessories: [FleetAccessory], isComplete: Bool
  ) {
    let isComplete = try await load(FleetScope(gateway: options.gateway, parts))
    return (try wanted(await loaded()), isComplete)
  }

  /// What may be wrong where the broker told of no accessory: some brokers keep messages and don't give them to who doesn't know their
  /// topics.
  var emptiness: String {
    let whose = options.gateway.map { " of a gateway \(SafeText.escape($0))" } ?? ""
    return
      "\(broker) has no accessory\(whose). Either none is published (bridge-fleet publish does that), or the broker sends "
      + "no retained messages to wildcard subscriptions, as RabbitMQ: then name an accessory with its gateway, like "
      + "bridge-fleet battery GATEWAY:ID"
  }

  private func loaded() async -> [FleetAccessory] {
    let fleet = await reader.fleet
    let dropped = fleet.dropped
    if dropped > 0 { Output.note("\(Amount.of(dropped, "message")) of \(broker) had another form, or no room.") }
    return fleet.keys.compactMap { fleet.accessory($0) }
  }

  /// Those of the gateway that the options name, by its whole name or else by its beginning.
  private func wanted(_ all: [FleetAccessory]) throws -> [FleetAccessory] {
    guard let name = options.gateway else { return all }
    let whole = all.filter { $0.key.gateway.text == name }
    if !whole.isEmpty { return whole }
    let some = all.filter { $0.key.gateway.text.hasPrefix(name) }
    let gateways = Set(some.map(\.key.gateway)).sorted()
    guard gateways.count <= 1 else {
      throw UsageError(
        "several gateways begin with \(SafeText.escape(name)): \(gateways.prefix(10).map(\.text).joined(separator: ", "))"
      )
    }
    return some
  }

  /// The accessory that is meant, with these topics of it. Throws `notFound` when there is none, and `UsageError` when there
  /// are several.
  func find(_ text: String?, _ parts: [FleetTopic.AccessoryPart] = []) async throws -> FleetAccessory {
    let needed = [.availability, .state] + parts
    guard let text else {
      let found = try await all(needed).accessories
      guard found.count <= 1 else {
        throw UsageError(
          "there are \(found.count) accessories: name one, as in \(found[0].key); bridge-fleet list shows all")
      }
      guard let one = found.first else { throw AccessoryError(.notFound, emptiness) }
      return one
    }
    let name = FleetName(text, gateway: options.gateway)
    // Most names are whole, and then only the topics of this accessory are needed.
    try await load(FleetScope(gateway: options.gateway, accessories: name.levels, named: name.gateways, needed))
    var found = name.matches(among: await loaded())
    var isSilent = false
    if found.isEmpty {
      let all = try await all().accessories
      (found, isSilent) = (name.matches(among: all), all.isEmpty)
      if found.count == 1, !parts.isEmpty {
        try await load(FleetScope(gateway: found[0].key.gateway.text, accessories: [found[0].key.accessory], needed))
        found = name.matches(among: await loaded())
      }
    }
    guard found.count <= 1 else {
      let names = found.prefix(10).map(\.key.description).joined(separator: ", ")
      throw UsageError(
        "\(SafeText.escape(text)) can be \(found.count) accessories: \(names)\(found.count > 10 ? " …" : "")")
    }
    guard let one = found.first else {
      let keys = await loaded().map(\.key)
      let advice =
        isSilent
        ? emptiness
        : NearestWord.advice(
          text, among: keys.map(\.description) + keys.map(\.accessory.text), otherwise: "bridge-fleet list shows all")
      throw AccessoryError(.notFound, "there is no accessory \(SafeText.escape(text)) on \(broker): \(advice)")
    }
    return one
  }

  // MARK: - Following

  /// Calls `body` with what happens, until the command is interrupted. While the broker is away, a note says so once.
  func follow(_ body: (FleetNews, FleetStore) async throws -> Void) async throws {
    var isAway = false
    while let news = await reader.next() {
      switch news {
      case .disconnected(let error, _):
        if !isAway { Output.note("\(SafeText.escape(error.message, limit: 500)): waiting for it to come back") }
        isAway = true
      case .connected:
        if isAway { Output.note("\(broker) is back") }
        isAway = false
      case .refused(let error): throw error
      case .change, .event, .result: try await body(news, await reader.fleet)
      }
    }
    throw CancellationError()
  }
}
