// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO

/// An accessory that a service reports.
struct ReportedAccessory: Sendable, Hashable {
  /// As far as the service tells.
  var device: Device
  /// The protocols that it can be opened for. The profile has no other settings: only the service knows how to open it.
  var profile: Profile

  /// Bytes of its texts, and of what holds these.
  var size: Int {
    let usb = device.usb
    let texts =
      [
        device.address.description, device.link, device.driver, device.name, device.manufacturer, device.model,
        device.serialNumber,
        device.firmwareRevision, device.hardwareRevision, device.terminal, usb?.node, usb?.port, usb?.damage,
        profile.name,
      ] + profile.protocolStrings
    return texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) + MemoryLayout<String>.size }
  }
}

/// Follows the accessories that services of this package hold, including those that only a service knows, because a
/// user named them to it or it sees more devices than this program.
enum ServiceAccessories {
  enum Event: Sendable {
    case came(ReportedAccessory)
    case went(Device)
    /// The service has more accessories than the limit; the rest is ignored. Reported once.
    case tooMany(AccessoryError)
  }

  /// How long a service may take to answer.
  private static let patience = Duration.seconds(5)

  /// Follows the service at a place, and those that start there later, until the task is cancelled. Calls `ready`, once,
  /// when what the first has is told, or none is there. Of one service no more than `limit` accessories are told at a
  /// time.
  static func follow(
    _ place: String, limit: Int = ReplyLimits.devices, ready: @escaping @Sendable () -> Void,
    _ tell: @escaping @Sendable (Event) -> Void
  ) async {
    let starts = ServiceStarts(at: place)
    defer { starts.stop() }
    var (isReady, isTooMuchTold) = (false, false)
    for await _ in starts.signals {
      var known = ReportedDevices<ReportedAccessory>(countLimit: limit)
      try? await followOne(place, &known) {
        if !isReady { ready() }
        isReady = true
      } tell: {
        tell($0)
      } passOver: {
        if !isTooMuchTold { tell(.tooMany(tooMany(place, limit))) }
        isTooMuchTold = true
      }
      for accessory in known.values { tell(.went(accessory.device)) }
      if !isReady { ready() }
      isReady = true
      if Task.isCancelled { return }
    }
    if !isReady { ready() }
  }

  private static func tooMany(_ place: String, _ limit: Int) -> AccessoryError {
    AccessoryError(
      .badData,
      "the service at \(place) tells of more than \(limit) accessories, or too much of them: what is beyond is passed "
        + "over")
  }

  private static func followOne(
    _ place: String, _ known: inout ReportedDevices<ReportedAccessory>, ready: () -> Void, tell: (Event) -> Void,
    passOver: () -> Void
  ) async throws {
    for try await event in try await BridgeClient.events(at: place, patience: patience) {
      switch event {
      case .ready: ready()
      case .present(let facts), .connected(let facts):
        guard let told = await look(facts, place) else { continue }
        let former = known[facts.place]
        guard known.keep(told, for: facts.place, size: told.size) else {
          passOver()
          continue
        }
        if let former, former != told { tell(.went(former.device)) }
        tell(.came(told))
      case .disconnected(let facts, _):
        if let told = known.remove(facts.place) { tell(.went(told.device)) }
      case .battery, .status, .values, .requestFailed: break
      }
    }
  }

  /// Everything that the service knows of a device. If a user named it to the service, it is asked for its identity.
  ///
  /// By a connection of its own: one made before that of the events may be to a service that was just ending.
  private static func look(_ facts: Bridge.Device, _ place: String) async -> ReportedAccessory? {
    guard let client = try? await BridgeClient.connect(to: place, patience: patience) else { return nil }
    if facts.source == Device.Source.named.rawValue,
      let reply = try? await client.device(facts.place).info(), reply.accessory.device.place == facts.place
    {
      return ReportedAccessory(reply.accessory, reply.identity)
    }
    let list = try? await client.list()
    return (list?.first { $0.device.place == facts.place }).flatMap { ReportedAccessory($0, nil) }
  }
}

extension ReportedAccessory {
  /// Nil for what no program of ExternalAccessory can open.
  init?(_ accessory: Bridge.Accessory, _ identity: Bridge.Identity?) {
    guard let protocols = accessory.protocols, !protocols.isEmpty else { return nil }
    let facts = accessory.device
    func text(_ own: String?, _ asked: String?) -> String? { own ?? asked.flatMap { $0.isEmpty ? nil : $0 } }
    device = Device(
      DeviceAddress(facts.path) ?? .node(facts.path), link: facts.link, source: .named, driver: facts.driver,
      name: text(facts.name, identity?.name), manufacturer: text(facts.manufacturer, identity?.manufacturer),
      model: text(facts.model, identity?.model), serialNumber: text(facts.serial, identity?.serial),
      terminal: facts.terminal,
      usb: facts.usb.map {
        USBIdentity(
          vendorID: $0.vendor_id, productID: $0.product_id, bus: $0.bus, address: $0.address, node: $0.node,
          port: $0.port, devpath: "", speed: $0.speed_mbps, function: USBClass(code: 0, subclass: 0, protocol: 0),
          damage: $0.damage)
      })
    device.unit = facts.unit
    device.firmwareRevision = text(nil, identity?.firmware)
    device.hardwareRevision = text(nil, identity?.hardware)
    profile = Profile(name: accessory.profile ?? "", rules: [], protocolStrings: protocols)
  }
}
