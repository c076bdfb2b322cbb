// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import MessageBus

/// One client's services at BlueZ, on the I/O thread. Each service is an application of its own at `GattManager1`; the advertisement
/// is registered at `LEAdvertisingManager1`.
///
/// It makes no calls and has no timers while nothing happens. It registers everything again when bluetoothd or the adapter returns.
actor BlueZServer: IOActor {
  nonisolated let io: IOThread
  let tell: @Sendable (ServingEvent) -> Void
  nonisolated let room = ServingRoom()
  var bluez: BlueZ?
  private let adapter: BluetoothAdapterName?
  private var isClosed = false
  private var state: RadioState?
  /// The services, by number, and those that are to be withdrawn.
  var services: [Int: Entry] = [:]
  private var withdrawn: [String] = []
  /// The advertisement that the client wants, and the one that bluetoothd has.
  private var offer: Offer?
  private var offered: (path: String, adapter: String, offer: ServedOffer)?
  private var offerCount = 0
  /// The path of the adapter at which the services and the advertisement are registered.
  private(set) var home: String?
  private var isArranging = false
  /// The devices that have used a service, by the path of their objects.
  var centrals: [String: Central] = [:]
  /// The unanswered requests: the device's path, and whether it reads.
  var requests: [Int: (device: String, isRead: Bool)] = [:]
  /// The number of values sent since bluetoothd last confirmed them.
  private var unconfirmedCount = 0
  private var isConfirming = false

  /// A service, and whether bluetoothd has it.
  struct Entry {
    let objects: ServedObjects
    var isRegistered = false
    /// Whether the client was told the outcome.
    var isTold = false
  }

  private struct Offer {
    let offer: ServedOffer
    var isTold = false
  }

  /// A device that has used a service.
  struct Central {
    var central: ServedCentral
    var subscriptions: Set<Int> = []
  }

  /// The most services, and the pauses between attempts to register again.
  private static let serviceLimit = 64
  private static let pauses = (first: Duration.seconds(1), longest: Duration.seconds(16), count: 10)
  private static let manager = "org.bluez.GattManager1"
  private static let advertisingManager = "org.bluez.LEAdvertisingManager1"

  /// The I/O thread.
  nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  init(_ io: IOThread, by adapter: BluetoothAdapterName?, _ tell: @escaping @Sendable (ServingEvent) -> Void) {
    (self.io, self.adapter, self.tell) = (io, adapter, tell)
  }

  // MARK: - Start and end

  func begin(_ bus: String?) async {
    do throws(AccessoryError) {
      let bluez = try await BlueZ.open(bus, awaitsDaemon: true, io: io)
      guard !isClosed else { return await bluez.close() }
      do throws(BusFailure) {
        try await bluez.serveTree(ServedObjects.tree) { [weak self] call in self?.enter(call) { $0.take($1) } }
      } catch {
        await bluez.close()
        throw AccessoryError(starting: error)
      }
      self.bluez = bluez
      _ = await bluez.observe { [weak self] event, objects in self?.enter { $0.follow(event, objects) } }
      update(await bluez.objects)
    } catch {
      guard !isClosed else { return }
      become(error.kind == .permissionDenied ? .unauthorized : .unsupported)
    }
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    (services, offer, offered) = ([:], nil, nil)
    guard let bluez else { return }
    self.bluez = nil
    // All registrations end with the connection.
    Task { await bluez.close() }
  }

  // MARK: - Following BlueZ

  private func follow(_ event: BlueZEvent, _ objects: BluetoothObjects) {
    guard !isClosed else { return }
    switch event {
    case .gone:
      let hasBus = bluez?.enter { $0.hasBus } == true
      forget()
      become(hasBus ? .resetting : .unsupported)
    case .returned: update(objects)
    case .changed(let path):
      if centrals[path] != nil { look(at: path, objects) }
      if path == home || objects.adapters[path] != nil { update(objects) }
    case .value: break
    }
  }

  private func update(_ objects: BluetoothObjects) {
    if let home, objects.adapters[home] == nil { forget() }
    let adapters = objects.adapters(adapter)
    become(adapters.isEmpty ? .unsupported : adapters.contains(where: \.isPowered) ? .on : .off)
  }

  /// Marks everything as unregistered, because bluetoothd or the adapter has ended.
  private func forget() {
    for number in services.keys { services[number]?.isRegistered = false }
    (withdrawn, offered, home, requests) = ([], nil, nil, [:])
  }

  private func become(_ state: RadioState) {
    guard !isClosed else { return }
    if state != self.state {
      self.state = state
      if state != .on { for path in centrals.keys.sorted() { leave(path) } }
      tell(.state(state))
    }
    arrange()
  }

  private func look(at path: String, _ objects: BluetoothObjects) {
    if objects.devices[path]?.isConnected != true { leave(path) }
  }

  private func leave(_ path: String) {
    guard let central = centrals.removeValue(forKey: path) else { return }
    for (id, request) in requests where request.device == path { requests[id] = nil }
    for handle in central.subscriptions.sorted() { tell(.unsubscribed(central.central, handle: handle)) }
    tell(.left(central.central.peer))
  }

  // MARK: - Commands

  func take(_ command: ServingCommand) {
    guard !isClosed else { return }
    switch command {
    case .publish(let service):
      let full = services.count >= Self.serviceLimit && services[service.number] == nil
      let refusal =
        full ? AccessoryError(.busy, "\(Self.serviceLimit) services are offered already, which is the limit") : nil
      if let refusal = refusal ?? ServedObjects.refusal(of: service) {
        return tell(.published(service.number, refusal))
      }
      guard services[service.number] == nil else { return }
      services[service.number] = Entry(objects: ServedObjects(service))
      arrange()
    case .withdraw(let number):
      guard let entry = services.removeValue(forKey: number) else { return }
      if entry.isRegistered { withdrawn.append(entry.objects.root) }
      let handles = Set(entry.objects.service.characteristics.map(\.handle))
      for path in centrals.keys { centrals[path]?.subscriptions.subtract(handles) }
      arrange()
    case .offer(let new):
      offer = new.map { Offer(offer: $0) }
      arrange()
    case .answer(let id, let result): answer(id, result)
    case .disconnect(let peer):
      guard let bluez, let path = centrals.first(where: { $0.value.central.peer == peer })?.key else { return }
      Task { await bluez.disconnect(path) }
    }
  }

  // MARK: - Registering

  private enum Work {
    case withdraw(String)
    case publish(Int)
    case endOffer(path: String, adapter: String)
    case offer
  }

  private var work: Work? {
    guard state == .on, !isClosed else { return nil }
    if let path = withdrawn.first { return .withdraw(path) }
    // Services first: a device that receives the advertisement may connect at once.
    if let next = services.filter({ !$0.value.isRegistered }).keys.min() { return .publish(next) }
    if let offered, offered.offer != offer?.offer { return .endOffer(path: offered.path, adapter: offered.adapter) }
    return offer != nil && offered == nil && !isReleased ? .offer : nil
  }

  /// Whether bluetoothd has ended the advertisement. It is registered again when the radio returns.
  private var isReleased = false

  /// Registers and unregisters until bluetoothd has what the client wants.
  private func arrange() {
    guard !isArranging else { return }
    isArranging = true
    Task {
      var pause = Self.pauses.first
      var failures = 0
      while let bluez, let work {
        let failure = await perform(work, bluez)
        guard let failure, self.bluez === bluez else {
          (pause, failures) = (Self.pauses.first, 0)
          continue
        }
        failures += 1
        if giveUp(work, failure, isLast: failures >= Self.pauses.count) { continue }
        await io.sleep(for: pause)
        pause = min(pause * 2, Self.pauses.longest)
      }
      isArranging = false
    }
  }

  /// Decides whether to give up after a failure, and reports that. What was registered before is tried several times.
  private func giveUp(_ work: Work, _ failure: AccessoryError, isLast: Bool) -> Bool {
    switch work {
    case .publish(let number):
      guard let entry = services[number] else { return true }
      guard !entry.isTold || isLast else { return false }
      services[number] = nil
      tell(.published(number, failure))
    case .offer:
      guard let offer else { return true }
      guard !offer.isTold || isLast else { return false }
      self.offer = nil
      tell(.offered(failure))
    case .withdraw, .endOffer: break
    }
    return true
  }

  private func perform(_ work: Work, _ bluez: BlueZ) async -> AccessoryError? {
    do throws(AccessoryError) {
      switch work {
      case .withdraw(let path):
        withdrawn.removeFirst()
        if let home { _ = try? await bluez.call(home, Self.manager, "UnregisterApplication", [.path(path)]) }
      case .endOffer(let path, let adapter):
        offered = nil
        _ = try? await bluez.call(adapter, Self.advertisingManager, "UnregisterAdvertisement", [.path(path)])
      case .publish(let number): try await publish(number, bluez)
      case .offer: try await advertise(bluez)
      }
      return nil
    } catch {
      return error
    }
  }

  /// The path of the adapter of the current registrations, or of one for new ones.
  private func place(_ bluez: BlueZ) async throws(AccessoryError) -> String {
    if let home { return home }
    let path = try await bluez.adapter(adapter).path
    home = path
    return path
  }

  private func publish(_ number: Int, _ bluez: BlueZ) async throws(AccessoryError) {
    guard let entry = services[number] else { return }
    let (uuid, root) = (entry.objects.service.uuid, entry.objects.root)
    let adapter = try await place(bluez)
    do throws(BusFailure) {
      _ = try await bluez.call(adapter, Self.manager, "RegisterApplication", [.path(root), .options([])])
    } catch {
      throw AccessoryError(refusal: error, "offering the service \(uuid)")
    }
    // The client may have withdrawn it meanwhile, or bluetoothd has ended.
    guard self.bluez === bluez, home == adapter else { return }
    guard services[number] != nil else { return withdrawn.append(root) }
    services[number]?.isRegistered = true
    guard services[number]?.isTold == false else { return }
    services[number]?.isTold = true
    tell(.published(number, nil))
  }

  private func advertise(_ bluez: BlueZ) async throws(AccessoryError) {
    guard let wanted = offer else { return }
    let adapter = try await place(bluez)
    offerCount += 1
    let path = "\(ServedObjects.tree)/advertisement\(offerCount)"
    offered = (path, adapter, wanted.offer)
    do throws(BusFailure) {
      _ = try await bluez.call(
        adapter, Self.advertisingManager, "RegisterAdvertisement", [.path(path), .options([])])
    } catch {
      if offered?.path == path { offered = nil }
      throw Self.advertisingError(error)
    }
    guard offered?.path == path, offer?.offer == wanted.offer, offer?.isTold == false else { return }
    offer?.isTold = true
    tell(.offered(nil))
  }

  private static func advertisingError(_ failure: BusFailure) -> AccessoryError {
    switch failure.name {
    case "org.bluez.Error.InvalidLength":
      return AccessoryError(
        .misconfigured, "the name and the services don't fit into an advertisement: is the name shorter than 27 bytes?")
    case "org.bluez.Error.NotPermitted", "org.bluez.Error.AlreadyExists":
      return AccessoryError(.busy, "the adapter advertises for other programs already, and can't do more at a time")
    case "org.freedesktop.DBus.Error.UnknownMethod", "org.freedesktop.DBus.Error.UnknownInterface":
      return AccessoryError(.unsupported, "the Bluetooth adapter can't advertise")
    default: return AccessoryError(refusal: failure, "advertising")
    }
  }

  /// The properties of our advertisement at this path; nil if there is none.
  func advertisement(_ path: String) -> [BusArgument.Option]? {
    guard let offer = offered?.offer, offered?.path == path else { return nil }
    var properties: [BusArgument.Option] = [.init("Type", .text("peripheral"))]
    if !offer.services.isEmpty { properties.append(.init("ServiceUUIDs", .texts(offer.services.map(\.text)))) }
    if let name = offer.name { properties.append(.init("LocalName", .text(name))) }
    return properties
  }

  /// Handles the end of the advertisement: the adapter was switched off, or bluetoothd ends.
  func released(_ path: String) {
    guard offered?.path == path else { return }
    offered = nil
    // Don't register it again at once: bluetoothd would refuse it for the same reason.
    isReleased = true
    Task {
      await io.sleep(for: Self.pauses.first)
      isReleased = false
      arrange()
    }
  }

  // MARK: - Values

  /// Sends a value, for which the caller has taken room.
  func notify(_ handle: Int, _ value: [UInt8]) {
    guard let bluez, let path = path(of: handle) else { return give(1) }
    bluez.enter {
      $0.signal(
        path, "org.freedesktop.DBus.Properties", "PropertiesChanged",
        [
          .text(GATTTransport.characteristic),
          .options([.init("Value", .bytes(Array(value.prefix(GATTPacket.longestValue))))]), .texts([]),
        ])
    }
    unconfirmedCount += 1
    confirm(bluez)
  }

  private func path(of handle: Int) -> String? {
    for entry in services.values where entry.isRegistered {
      if let found = entry.objects.service.characteristics.first(where: { $0.handle == handle }) {
        return entry.objects.path(of: found)
      }
    }
    return nil
  }

  /// Makes a call that bluetoothd answers when it has accepted all values sent before.
  private func confirm(_ bluez: BlueZ) {
    guard !isConfirming else { return }
    isConfirming = true
    Task {
      while unconfirmedCount > 0 {
        let count = unconfirmedCount
        unconfirmedCount = 0
        _ = try? await bluez.call("/", "org.freedesktop.DBus.Peer", "Ping")
        give(count)
      }
      isConfirming = false
    }
  }

  private func give(_ count: Int) { if room.give(count) { tell(.ready) } }
}
