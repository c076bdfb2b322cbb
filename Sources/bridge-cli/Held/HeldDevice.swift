// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import BridgeService
import Console

/// An accessory that a service holds, and the way to ask it.
struct HeldDevice: Sendable {
  let client: BridgeClient
  let accessory: Bridge.Accessory
  /// As the user called it.
  var label: String?

  /// Where the service answers.
  var place: String { client.place }

  /// What to call it in calls: its path is nobody else's.
  var name: String { accessory.device.path }

  /// The same for calls; in errors it is called as the user called it.
  var calls: BridgeDevice { client.device(name, label: label) }

  /// The accessory that `text` means, if a service holds it; nil when a command is to open it itself, or to say why
  /// not. Throws `ResolutionError` when `text` fits several accessories, held and others, and `busy` when the user wants
  /// another line than the service has set.
  static func find(_ text: String?, _ line: LineOptions) async throws -> HeldDevice? {
    guard var held = try await find(text) else { return nil }
    held.label = Attachment.label(text, held.name)
    guard !line.saysSomething else {
      throw AccessoryError(
        .busy,
        "the service at \(held.place) has \(held.name) open by its profile: to open it otherwise, let it go first: "
          + "bridge-cli detach \(held.name)")
    }
    return held
  }

  /// Which of a service's accessories are meant.
  enum Selection {
    /// Those that it has open, or is about to.
    case held
    /// Also those that it has given up.
    case all
  }

  /// The accessory that `text` means, of those that services have.
  static func find(_ text: String?, including selection: Selection = .held) async throws -> HeldDevice? {
    let (all, busy) = await all()
    let held = all.filter { selection == .all || $0.isHeld }
    let known = held.isEmpty && busy == nil ? [] : (try? await KnownDevices.devices(forOpening: text)) ?? []
    if let busy, held.isEmpty, selection == .all || (try? DeviceResolver.resolve(text, among: known)) == nil {
      // A service that could not be asked may have it: nobody knows that there is none.
      throw busy
    }
    guard !held.isEmpty else { return nil }
    // One that is awaited may have left its path to another, and isn't meant where another can be.
    let (awaited, there) = (held.filter(\.isAwaited), held.filter { !$0.isAwaited })
    let others = known.filter { device in
      !there.contains { $0.isSame(device) } && !awaited.contains { $0.accessory.device.id == device.id }
    }
    let found = try DeviceResolver.choose(
      text, there: there.map(\.device) + others, awaited: awaited.map(\.device))
    guard let found, !others.contains(where: { $0.isSame(as: found) }) else { return nil }
    return held.first { $0.device == found } ?? held.first { $0.isSame(found) }
  }

  /// As the service tells of it.
  private var device: Device { Device(accessory.device) }

  /// Whether the service has it open, or is about to.
  private var isHeld: Bool { accessory.state != .failed }

  /// Whether the service doesn't have it, and may or may not get it.
  private var isAwaited: Bool { accessory.state == .waiting || accessory.state == .failed }

  private func isSame(_ other: Device) -> Bool { device.isSame(as: other) }

  /// What all services have. One that can't be asked is passed over; that it takes no more clients is told beside.
  private static func all() async -> (held: [HeldDevice], busy: AccessoryError?) {
    var held: [HeldDevice] = []
    var busy: AccessoryError?
    for place in ServicePlace.all() {
      do throws(AccessoryError) {
        var client = try await BridgeClient.connect(to: place, patience: .seconds(5))
        let list = try await client.list()
        // What is asked then may take as long as the accessory does.
        client.patience = nil
        held += list.map { HeldDevice(client: client, accessory: $0) }
      } catch {
        guard error.kind == .busy else { continue }
        busy = AccessoryError(.busy, "the service at \(place) is busy: \(error.message); try again")
      }
    }
    return (held, busy)
  }

  // MARK: - Calls

  func battery() async throws -> Bridge.GetBattery.Reply {
    try requireDriver()
    return try await calls.battery()
  }

  func status() async throws -> Bridge.GetStatus.Reply {
    try requireDriver()
    return try await calls.status()
  }

  /// Throws `misconfigured`, as where the device is opened here, when the service holds it as bytes.
  func requireDriver() throws(AccessoryError) {
    guard accessory.driver == nil else { return }
    let path = SafeText.escape(name)
    throw AccessoryError(
      .misconfigured,
      "the service at \(place) has \(label ?? path) open as bytes, and knows no driver for it: let it go with bridge-cli "
        + "detach \(path); then say bridge-cli attach \(path) --profile NAME, or --driver with one of \(KnownDrivers.library.summary)"
    )
  }

  /// The pause after which an unfinished frame no longer holds up what follows it. The service doesn't tell the line's
  /// speed here; that of no line is right for all but the slowest.
  var silence: Duration { LineTiming.instant.silence }

  /// Says that a reading is an old one, because another program has the accessory.
  func noteAge(_ age: Int?) {
    guard let age else { return }
    let holder = accessory.holder.map { SafeText.escape($0) } ?? "another program"
    Output.note("\(holder) has the accessory: this was read \(DecimalText.tenths(ofSeconds: age)) s ago")
  }
}
