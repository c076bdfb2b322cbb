// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

/// An accessory that a service holds, used through that service: others can use it at the same time.
///
/// While another program has borrowed its bytes, status, battery, values and identity are what the service last heard, and all else
/// throws `busy`. When the accessory goes, or the service ends, every call throws `disconnected` from then on, also when it
/// comes back: then open it again.
public final class ServiceAccessory: Accessory {
  /// The accessory's name for people: as it was asked for.
  public let label: String
  /// The socket of the service.
  public var service: String { calls.client.place }

  /// What the service's contact with it has told of its protocol.
  public let protocolDetails: ProtocolDetails?

  let calls: BridgeDevice
  private let told: ServiceNews
  /// Whether calls ask to change something in it, where its protocol has that.
  private let write: Bool

  /// How long a service may take for what takes an accessory a moment; and for commands, some of which take long.
  static let patience = Duration.seconds(60)
  static let longPatience = Duration.seconds(600)

  private init(_ calls: BridgeDevice, _ news: ServiceNews, _ details: ProtocolDetails?, write: Bool) {
    (self.calls, told, protocolDetails, self.write) = (calls, news, details, write)
    label = calls.label
  }

  deinit { told.close() }

  /// Begins to use what a service holds. Throws `misconfigured` when the service holds it as bytes; `disconnected`, `busy`
  /// and what contact with the accessory throws.
  static func open(
    _ held: HeldAccessory, label: String, writes: Bool = false, patience: Duration = patience
  ) async throws(AccessoryError) -> ServiceAccessory {
    guard held.accessory.driver != nil else {
      throw AccessoryError(
        .misconfigured,
        "the service at \(held.place) has \(label) open as bytes, and knows no driver for it: let the service attach it with "
          + "the profile that fits (bridge-cli attach \(label) --profile NAME), or use its bytes")
    }
    let client = try await BridgeClient.connect(to: held.place, patience: patience)
    let calls = client.device(held.accessory.device.place, label: label)
    let news = try await ServiceNews.follow(calls, patience: patience)
    // The service may be making contact still.
    let failure: AccessoryError
    do throws(AccessoryError) {
      return ServiceAccessory(
        calls, news, try await calls.info().protocol.map { ProtocolDetails($0) },
        write: held.asks(toWrite: writes))
    } catch { failure = error }
    news.close()
    client.close()
    throw failure
  }

  /// Makes a call to the service, unless the connection has already ended.
  func checked<Value>(
    _ body: () async throws(AccessoryError) -> Value
  ) async throws(AccessoryError) -> Value {
    if let ended = told.ended { throw ended }
    return try await body()
  }

  // MARK: - What it is and how it is

  /// Asks who it is.
  public func identify() async throws(AccessoryError) -> AccessoryIdentity {
    let info = try await checked { () throws(AccessoryError) in try await calls.info() }
    return info.identity?.reading ?? AccessoryIdentity()
  }

  /// Asks what it is doing.
  public func status() async throws(AccessoryError) -> AccessoryStatus {
    try await checked { () throws(AccessoryError) in try await calls.status() }.status.reading
  }

  /// Asks for its battery.
  public func battery() async throws(AccessoryError) -> BatteryReading {
    try await checked { () throws(AccessoryError) in try await calls.battery() }.battery.reading
  }

  /// Asks for all that it measures beside these. Throws `unsupported` also where the service is too old to know of values.
  public func values() async throws(AccessoryError) -> [AccessoryValue] {
    try await checked { () throws(AccessoryError) in try await calls.values() }.values.map(\.reading)
  }

  /// Sends a request of its protocol as it is; only AF1 has requests of this form.
  public func request(_ code: UInt8, payload: [UInt8]) async throws(AccessoryError) -> [UInt8] {
    try await checked { () throws(AccessoryError) in
      try await calls.request("0x" + Hexadecimal.string([code]), payload: payload, write: write)
    }.payload
  }

  /// What it can be told and asked by name.
  public func commands() async throws(AccessoryError) -> [CommandDescription] {
    try await checked { () throws(AccessoryError) in try await calls.descriptions() }.commands
  }

  /// Carries out commands, as the accessory's driver does in the service.
  public func perform(_ calls: [CommandCall], isAnswered: Bool) async throws(AccessoryError) -> [CommandReply] {
    try await checked { () throws(AccessoryError) in
      var device = self.calls
      device.client.patience = Self.longPatience
      return try await device.perform(calls, isAnswered: isAnswered, write: write)
    }.replies
  }

  /// Its files: what its kind lacks the service answers with `unsupported`.
  public var files: (any AccessoryFiles)? { ServiceFiles(accessory: self) }

  /// What the accessory tells of its own accord, and what the service has found changed, from now on. Throws
  /// `disconnected` when the accessory goes or the service ends; ends normally when this is closed. Up to 256 are
  /// buffered, then the oldest is lost.
  public func news() -> EventStream<AccessoryNews> { told.subscribe(for: self) }

  /// Ends the use of the service, which goes on holding the accessory. Calls that wait throw `cancelled`.
  public func close() async {
    told.close()
    calls.client.close()
  }
}
