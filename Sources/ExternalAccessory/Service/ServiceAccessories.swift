// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

/// The accessories that this package's services hold, including those that only a service knows: because a user named
/// them to it, or because it sees more devices than this program. A view of the services' mirror.
enum ServiceAccessories {
  enum Event: Sendable {
    /// The profile has the protocols for which the accessory can be opened, and no other settings: the service opens it.
    case came(Device, Profile)
    case went(Device)
    /// The service has more accessories than the limit; the rest is ignored. Reported once.
    case tooMany(AccessoryError)
  }

  /// Follows the service at `place`, and services that start there later, until the task is cancelled. Calls `ready`
  /// once, when the first service's accessories were reported, or when there is no service. At most `limit` accessories
  /// of a service are reported at the same time.
  static func follow(
    _ place: String, limit: Int = ReplyLimits.devices, ready: @escaping @Sendable () -> Void,
    _ tell: @escaping @Sendable (Event) -> Void
  ) async {
    // Like everything here, this must not run on a thread that the program may block.
    let mirror = ServiceMirror([.lists, .identities], countLimit: limit, executor: TaskQueue.shared)
    let isReady = OneShot<Void>()
    let beReady: @Sendable () -> Void = { if isReady.finish() { ready() } }
    var hooks = ServiceMirror.Hooks()
    hooks.trouble = { _ in beReady() }
    await withTaskGroup { group in
      group.addTask { [hooks] in await mirror.run([ServiceMirror.Service(place)], hooks) }
      var view = View(place: place, limit: limit)
      for await change in await mirror.changes() {
        for event in view.take(change) { tell(event) }
        if change.services.first?.isUp == true, view.unknown.isEmpty { beReady() }
      }
      for event in view.end() { tell(event) }
      group.cancelAll()
    }
    beReady()
  }

  /// The reported accessories.
  struct View {
    let place: String
    let limit: Int
    /// The accessories by their numbers in the mirror, and how often each was disconnected before it was reported.
    private var told: [UInt64: (device: Device, profile: Profile, disconnectCount: Int)] = [:]
    /// Accessories that can't be reported yet, because too little is known about them.
    private(set) var unknown: Set<UInt64> = []
    private var isTooMuchTold = false

    init(place: String, limit: Int) { (self.place, self.limit) = (place, limit) }

    mutating func take(_ change: MirrorChange) -> [Event] {
      var events: [Event] = []
      for accessory in change.accessories {
        let isThere = accessory.isConnected && accessory.isReported
        let isUnknown = isThere && !accessory.isDescribed
        if isUnknown { unknown.insert(accessory.id) } else { unknown.remove(accessory.id) }
        // An accessory that is reported again is asked again. Until it answers, its last data applies.
        let old = told[accessory.id]
        if isUnknown, old?.disconnectCount == accessory.disconnectCount { continue }
        let new = isThere ? accessory.opening : nil
        if let old, let new, old == (new.device, new.profile, accessory.disconnectCount) { continue }
        if let old { events.append(.went(old.device)) }
        if let new { events.append(.came(new.device, new.profile)) }
        told[accessory.id] = new.map { ($0.device, $0.profile, accessory.disconnectCount) }
      }
      for id in change.forgotten {
        unknown.remove(id)
        if let old = told.removeValue(forKey: id) { events.append(.went(old.device)) }
      }
      if !isTooMuchTold, change.services.contains(where: \.hasTooMany) {
        isTooMuchTold = true
        let message = "the service at \(place) reports more than \(limit) accessories, or too much about them"
        events.append(.tooMany(AccessoryError(.badData, message + ": the rest is ignored")))
      }
      return events
    }

    func end() -> [Event] { told.sorted { $0.key < $1.key }.map { .went($0.value.device) } }
  }
}

extension MirroredAccessory {
  /// Whether everything that programs see is known. USB has no data about an accessory that a user has named, so its
  /// identity is requested.
  fileprivate var isDescribed: Bool { record.map { $0.device.source != .named || isAsked } ?? false }

  /// The device, as far as the service reports it, and its profile. Nil for an accessory without protocols, which no
  /// program of ExternalAccessory can open, and while it isn't described.
  fileprivate var opening: (device: Device, profile: Profile)? {
    guard isDescribed, let record, let protocols = record.protocols, !protocols.isEmpty else { return nil }
    func text(_ own: String?, _ asked: String?) -> String? { own ?? asked.flatMap { $0.isEmpty ? nil : $0 } }
    var device = record.device
    device.source = .named
    device.name = text(device.name, identity?.name)
    device.manufacturer = text(device.manufacturer, identity?.manufacturer)
    device.model = text(device.model, identity?.model)
    device.serialNumber = text(device.serialNumber, identity?.serialNumber)
    device.firmwareRevision = text(nil, identity?.firmwareRevision)
    device.hardwareRevision = text(nil, identity?.hardwareRevision)
    // An accessory stays the same while udev is still adding links to it, and while its signal comes and goes.
    (device.links, device.isInitialized, device.bluetooth) = ([], true, nil)
    device.usb?.interfaces = []
    return (device, Profile(name: record.profile ?? "", rules: [], protocolStrings: protocols))
  }
}
