// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

/// An accessory that a service reports.
struct ReportedAccessory: Sendable, Hashable {
  /// The device, as far as the service reports it.
  var device: Device
  /// A profile with the protocols for which the accessory can be opened, and no other settings: the service opens it.
  var profile: Profile

  /// The size of the device's texts in bytes, including their storage.
  var size: Int {
    ([profile.name] + profile.protocolStrings).reduce(device.textByteCount) {
      $0 + $1.utf8.count + MemoryLayout<String>.size
    }
  }
}

/// Follows the accessories that this package's services hold, including those that only a service knows: because a user
/// named them to it, or because it sees more devices than this program.
enum ServiceAccessories {
  enum Event: Sendable {
    case came(ReportedAccessory)
    case went(Device)
    /// The service has more accessories than the limit; the rest is ignored. Reported once.
    case tooMany(AccessoryError)
  }

  /// The time limit of a service's replies.
  private static let replyTimeout = Duration.seconds(5)

  /// Follows the service at `place`, and services that start there later, until the task is cancelled. Calls `ready`
  /// once, when the first service's accessories were reported, or when there is no service. At most `limit` accessories
  /// of a service are reported at the same time.
  static func follow(
    _ place: String, limit: Int = ReplyLimits.devices, ready: @escaping @Sendable () -> Void,
    _ tell: @escaping @Sendable (Event) -> Void
  ) async {
    var (isReady, isTooMuchTold) = (false, false)
    var known = ReportedDevices<ReportedAccessory>(countLimit: limit)
    var service: (client: BridgeClient, records: [String: Bridge.Accessory])?
    func beReady() {
      if !isReady { ready() }
      isReady = true
    }
    await ServiceFollower([place], replyTimeout: replyTimeout).run { event in
      switch event {
      case .begun(let client): service = (client, await records(client))
      case .event(.ready): beReady()
      case .event(.present(let facts)), .event(.connected(let facts)):
        if case .event(.connected) = event, let client = service?.client { service?.records = await records(client) }
        guard let service, let told = await look(facts, service.client, service.records) else { return }
        let former = known[facts.place]
        guard known.keep(told, for: facts.place, size: told.size) else {
          if !isTooMuchTold { tell(.tooMany(tooMany(place, limit))) }
          isTooMuchTold = true
          return
        }
        if let former, former != told { tell(.went(former.device)) }
        tell(.came(told))
      case .event(.disconnected(let facts, _)):
        if let told = known.remove(facts.place) { tell(.went(told.device)) }
      case .event: break
      case .ended:
        for accessory in known.values { tell(.went(accessory.device)) }
        (known, service) = (ReportedDevices(countLimit: limit), nil)
        beReady()
      }
    }
    for accessory in known.values { tell(.went(accessory.device)) }
    beReady()
  }

  private static func tooMany(_ place: String, _ limit: Int) -> AccessoryError {
    AccessoryError(
      .badData,
      "the service at \(place) reports more than \(limit) accessories, or too much about them: the rest is "
        + "ignored")
  }

  /// The service's records of its accessories, by their places.
  private static func records(_ client: BridgeClient) async -> [String: Bridge.Accessory] {
    Dictionary((try? await client.list())?.map { ($0.device.place, $0) } ?? []) { first, _ in first }
  }

  /// The service's record of a device; for a device that a user named to the service, also its identity, which is asked
  /// for.
  private static func look(
    _ facts: Device, _ client: BridgeClient, _ records: [String: Bridge.Accessory]
  ) async -> ReportedAccessory? {
    if facts.source == .named,
      let reply = try? await client.device(facts.place).info(), reply.accessory.device.place == facts.place
    {
      return ReportedAccessory(reply.accessory, reply.identity)
    }
    return records[facts.place].flatMap { ReportedAccessory($0, nil) }
  }
}

extension ReportedAccessory {
  /// Nil for an accessory without protocols, which no program of ExternalAccessory can open.
  init?(_ accessory: Bridge.Accessory, _ identity: AccessoryIdentity?) {
    guard let protocols = accessory.protocols, !protocols.isEmpty else { return nil }
    func text(_ own: String?, _ asked: String?) -> String? { own ?? asked.flatMap { $0.isEmpty ? nil : $0 } }
    device = accessory.device
    device.source = .named
    device.name = text(device.name, identity?.name)
    device.manufacturer = text(device.manufacturer, identity?.manufacturer)
    device.model = text(device.model, identity?.model)
    device.serialNumber = text(device.serialNumber, identity?.serialNumber)
    device.firmwareRevision = text(nil, identity?.firmwareRevision)
    device.hardwareRevision = text(nil, identity?.hardwareRevision)
    // An accessory stays the same while udev is still adding links to it.
    (device.links, device.isInitialized) = ([], true)
    device.usb?.interfaces = []
    profile = Profile(name: accessory.profile ?? "", rules: [], protocolStrings: protocols)
  }
}
