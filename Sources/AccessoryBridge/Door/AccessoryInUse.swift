// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryLink

/// An accessory in use: through a service, or opened by this program.
package struct AccessoryInUse: Sendable {
  package let device: Device
  /// The accessory with the functions that all drivers share.
  package let accessory: any Accessory
  /// Its profile, if this program has opened it.
  @Boxed package private(set) var profile: Profile?
  /// Whether it is a UPS.
  private let isUPS: Bool
  /// What only a service knows; nil for an accessory that this program has opened.
  package let service: HeldFacts?
  /// Its bytes, if this program has opened it and it has any.
  let session: AccessorySession?
  private let host: any OpeningHost

  /// The accessory as a service's; nil if this program has opened it.
  private var shared: ServiceAccessory? { accessory as? ServiceAccessory }

  /// An accessory that this program has opened.
  init(_ accessory: any Accessory, _ opener: DeviceOpener, over session: AccessorySession?, host: any OpeningHost) {
    (device, self.accessory, service, self.session, self.host) = (opener.device, accessory, nil, session, host)
    _profile = Boxed(wrappedValue: opener.profile)
    isUPS = opener.driver?.isUPS == true
  }

  /// An accessory of a service.
  init(_ found: HeldAccessory) {
    (device, accessory, service) = (found.device, ServiceAccessory(found.calls), found.service)
    (session, host, _profile) = (nil, found.host, Boxed(wrappedValue: nil))
    isUPS = found.driver?.isUPS == true
  }

  private func answer<Result: Sendable>(
    _ body: () async throws(AccessoryError) -> Result
  ) async throws(AccessoryError) -> Result {
    try await host.answer(of: accessory.label, body)
  }

  /// A reading of any kind. If this program has opened the accessory, `own` asks it, regardless of the wish.
  private func read<Value: WholeReading>(
    _ wish: ReadingWish, own: (any Accessory) async throws(AccessoryError) -> Read<Value>
  ) async throws(AccessoryError) -> Read<Value> {
    if !wish.isFresh, let last = service?.last(Value.self) { return last }
    return try await answer { () async throws(AccessoryError) in
      if let shared { try await shared.read(wish) } else { try await own(accessory) }
    }
  }

  package func battery(_ wish: ReadingWish = ReadingWish()) async throws(AccessoryError) -> Read<BatteryReading> {
    try await read(wish) { accessory throws(AccessoryError) in try await accessory.readBattery() }
  }

  /// What a UPS says of its supply and its load, to be asked for after its battery, with which many tell it; nil for other accessories,
  /// and where it isn't answered: its battery says enough.
  package func supply(_ wish: ReadingWish = ReadingWish()) async -> ReadValues? {
    guard isUPS else { return nil }
    if let told = accessory.knownValues.map({ Read($0) }).ofSupply { return told }
    return (try? await values(wish))?.value.ofSupply
  }

  /// Its battery, and the events from then on.
  package func battery(
    _ wish: ReadingWish, following wanted: WantedEvents
  ) async throws(AccessoryError) -> (read: Read<BatteryReading>, events: AccessoryEvents) {
    if shared != nil {
      let events = try await events(WantedEvents(values: wanted.values || isUPS, alarms: wanted.alarms))
      return (try await battery(wish), events)
    }
    let (reading, news) = try await answer { () async throws(AccessoryError) in try await accessory.batteryAndNews() }
    return (reading, AccessoryEvents(news, of: device))
  }

  /// The events from now on. To also ask without missing a change, ask after this call.
  private func events(_ wanted: WantedEvents) async throws(AccessoryError) -> AccessoryEvents {
    guard let shared else { return AccessoryEvents(accessory.news(), of: device) }
    return AccessoryEvents(try await shared.calls.events(values: wanted.values, alarms: wanted.alarms))
  }

  package func status(_ wish: ReadingWish = ReadingWish()) async throws(AccessoryError) -> Read<StatusAndIdentity> {
    try await read(wish) { accessory throws(AccessoryError) in try await accessory.readStatusAndIdentity() }
  }

  /// Its values with their ages.
  package func values(_ wish: ReadingWish = ReadingWish()) async throws(AccessoryError) -> Read<ReadValues> {
    try await read(wish) { accessory throws(AccessoryError) in
      try await accessory.readValues().map { $0.map { Read($0) } }
    }
  }

  /// Its values, and the events from then on.
  package func valuesAndEvents(
    _ wish: ReadingWish = ReadingWish()
  ) async throws(AccessoryError) -> (read: Read<ReadValues>, events: AccessoryEvents) {
    let events = try await events(WantedEvents(values: true))
    return (try await values(wish), events)
  }

  /// Performs commands. `write` asks for permission to change something in the accessory, here and below.
  package func perform(
    _ calls: [CommandCall], isAnswered: Bool, write: Bool
  ) async throws(AccessoryError) -> [CommandReply] {
    try await answer { () async throws(AccessoryError) in
      if let shared { return try await shared.calls.perform(calls, isAnswered: isAnswered, write: write) }
      return try await accessory.asking(toWrite: write).perform(calls, isAnswered: isAnswered)
    }
  }

  /// Sends a raw request. Returns the payload of the reply.
  package func request(_ code: UInt8, payload: [UInt8], write: Bool) async throws(AccessoryError) -> [UInt8] {
    try await answer { () async throws(AccessoryError) in
      if let shared { return try await shared.request(code, payload: payload, write: write) }
      return try await accessory.asking(toWrite: write).request(code, payload: payload)
    }
  }

  /// Its files, for transfers with these rules. Throws `unsupported` when it has none.
  package func files(_ transfers: TransferRules) throws(AccessoryError) -> any AccessoryFiles {
    if let shared { return ServiceFiles(accessory: shared, transfers: transfers) }
    return try accessory.requireFiles()
  }

  /// Whether a transfer waits for an unplugged accessory and resumes by itself, as a service's does.
  package var resumesTransfers: Bool { shared != nil }

  /// The accessory after a transfer, during which it may have been unplugged.
  package func device(after transfer: any FileTransfer) -> Device {
    (transfer as? any ServiceTransfer)?.device ?? device
  }

  /// Ends the use. A service keeps the accessory open. The connection to it ends with this value; event streams have connections of
  /// their own.
  package func close() async { if shared == nil { await accessory.close() } }
}
