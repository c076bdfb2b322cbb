// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

/// An accessory that a service has open, used through that service. Other programs can use it at the same time.
///
/// While another program uses the accessory's bytes, the service returns the last known status, battery, values and
/// identity, and all other calls throw `busy`. When the accessory is unplugged or the service ends, every call throws
/// `disconnected` from then on, even after the accessory returns. Then open it again.
public final class ServiceAccessory: Accessory {
  /// The accessory's name for people, as it was given to `open`.
  public let label: String
  /// The socket of the service.
  public var service: String { calls.client.socketPath }

  /// The details of the protocol that the service learned when it made contact.
  public let protocolDetails: ProtocolDetails?

  let calls: BridgeDevice
  /// The events, which tell the end of the accessory; nil for calls that need no news and report the end themselves.
  private let events: ServiceNews?
  /// Whether calls ask for permission to change settings or state in the accessory, if its protocol can do that.
  private let write: Bool

  /// The timeouts for the service's replies: for calls that an accessory answers quickly, and for commands, some of
  /// which take long.
  static let replyTimeout = Duration.seconds(60)
  static let longReplyTimeout = Duration.seconds(600)

  private init(_ calls: BridgeDevice, _ news: ServiceNews, _ details: ProtocolDetails?, write: Bool) {
    (self.calls, events, protocolDetails, self.write) = (calls, news, details, write)
    label = calls.label
  }

  /// An accessory for calls alone, of a connection of the caller.
  init(_ calls: BridgeDevice) {
    (self.calls, events, protocolDetails, write) = (calls, nil, nil, false)
    label = calls.label
  }

  deinit { events?.close() }

  /// Starts to use an accessory through a service. Throws `misconfigured` when the service has it open without a
  /// driver; `disconnected`, `busy`, and the errors of making contact with the accessory.
  static func open(
    _ held: ServiceEntry, label: String, writes: Bool = false, replyTimeout: Duration = replyTimeout
  ) async throws(AccessoryError) -> ServiceAccessory {
    guard held.accessory.driver != nil else {
      throw AccessoryError(
        .misconfigured,
        "the service at \(held.socketPath) has \(label) open without a driver: have the service attach it with "
          + "the right profile (bridge-cli attach \(label) --profile NAME), or use its bytes")
    }
    let client = try await BridgeClient.connect(to: held.socketPath, replyTimeout: replyTimeout)
    let calls = client.device(held.accessory, label: label)
    let news = try await ServiceNews.follow(calls, replyTimeout: replyTimeout)
    // The service may still be making contact.
    return try await attempt { () throws(AccessoryError) in
      ServiceAccessory(
        calls, news, try await calls.info().protocol,
        write: held.asks(toWrite: writes))
    } onFailure: { _ in
      news.close()
      client.close()
    }
  }

  /// Makes a call to the service, unless the connection has already ended.
  func checked<Value>(
    _ body: () async throws(AccessoryError) -> Value
  ) async throws(AccessoryError) -> Value {
    if let ended = events?.ended { throw ended }
    return try await body()
  }

  // MARK: - Identity and state

  /// Requests the accessory's identity.
  public func identify() async throws(AccessoryError) -> AccessoryIdentity {
    let info = try await checked { () throws(AccessoryError) in try await calls.info() }
    return info.identity ?? AccessoryIdentity()
  }

  /// Requests what the accessory is doing.
  public func status() async throws(AccessoryError) -> AccessoryStatus { try await readStatus().value }

  /// Requests what the accessory is doing, with the age of the answer.
  public func readStatus() async throws(AccessoryError) -> Read<AccessoryStatus> {
    let read: Read<StatusAndIdentity> = try await read()
    return read.map(\.status)
  }

  /// A reading of any kind.
  func read<Value: WholeReading>(_ wish: ReadingWish = ReadingWish()) async throws(AccessoryError) -> Read<Value> {
    try await checked { () throws(AccessoryError) in try await calls.read(wish) }
  }

  /// Requests the state of the battery.
  public func battery() async throws(AccessoryError) -> BatteryReading { try await readBattery().value }

  /// Requests the state of the battery, with the age of the answer.
  public func readBattery() async throws(AccessoryError) -> Read<BatteryReading> { try await read() }

  /// Requests all other measurements. Throws `unsupported` also when the service is too old to report values.
  public func values() async throws(AccessoryError) -> [AccessoryValue] { try await readValues().value }

  /// Requests all other measurements, with the age of the oldest one.
  public func readValues() async throws(AccessoryError) -> Read<[AccessoryValue]> {
    let read: Read<ReadValues> = try await read()
    return read.map { $0.map(\.value) }
  }

  /// Sends a request of the accessory's protocol unchanged. Only some protocols have such requests.
  public func request(_ code: UInt8, payload: [UInt8]) async throws(AccessoryError) -> [UInt8] {
    try await request(code, payload: payload, write: write)
  }

  func request(_ code: UInt8, payload: [UInt8], write: Bool) async throws(AccessoryError) -> [UInt8] {
    try await checked { () throws(AccessoryError) in
      try await calls.request("0x" + Hexadecimal.string([code]), payload: payload, write: write)
    }.payload
  }

  /// The commands that the accessory supports, by name.
  public func commands() async throws(AccessoryError) -> [CommandDescription] {
    try await checked { () throws(AccessoryError) in try await calls.commands() }.commands
  }

  /// Carries out commands with the accessory's driver in the service.
  public func perform(_ calls: [CommandCall], isAnswered: Bool) async throws(AccessoryError) -> [CommandReply] {
    try await checked { () throws(AccessoryError) in
      var device = self.calls
      device.client.replyTimeout = Self.longReplyTimeout
      return try await device.perform(calls, isAnswered: isAnswered, write: write)
    }
  }

  /// The accessory's files. If the accessory has none, the service answers with `unsupported`.
  public var files: (any AccessoryFiles)? { ServiceFiles(accessory: self) }

  /// Unsolicited messages of the accessory and changes that the service detects, from now on. Throws `disconnected`
  /// when the accessory is unplugged or the service ends; ends normally when this object is closed. Up to 256 events
  /// are buffered; beyond that, the oldest is dropped.
  public func news() -> EventStream<AccessoryNews> {
    events?.subscribe(for: self) ?? EventStream(AsyncThrowingStream { nil })
  }

  /// Stops using the service, which keeps the accessory open. Waiting calls throw `cancelled`.
  public func close() async {
    events?.close()
    calls.client.close()
  }
}
