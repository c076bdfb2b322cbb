// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// One client's session with BlueZ as a radio, on the I/O thread: state, search, connections.
///
/// It searches only while the client does, or waits for a device that BlueZ has forgotten.
actor BlueZCentral: IOActor {
  nonisolated let io: IOThread
  let tell: @Sendable (RadioEvent) -> Void
  /// The adapter to use; nil for all.
  private let adapter: BluetoothAdapterName?
  var bluez: BlueZ?
  private(set) var isClosed = false
  private(set) var state: RadioState?
  /// The established connections and the attempts.
  var links: [RadioPeer: BlueZLink] = [:]
  /// Connections that are being ended.
  var leaving: [RadioPeer: Task<Void, Never>] = [:]
  /// Lost connections that aren't reported yet.
  var losses: [RadioPeer: (link: RadioLink, timer: TimerToken)] = [:]
  var isHeld = false
  private var paths: [RadioPeer: String] = [:]
  private var peers: [String: RadioPeer] = [:]
  private var adapters: Set<String> = []
  private var strengths = HeardStrengths()
  private let snapshot = Locked<[RadioPeer: RadioKnown]>([:])
  /// The client's search.
  private var wanted: RadioSearch?
  private var current: (search: RadioSearch, adapter: BluetoothAdapter)?
  private var isArranging = false

  /// The first and the longest pause after a search that couldn't be started.
  private static let pauses = (first: Duration.seconds(1), longest: Duration.seconds(16))

  /// The I/O thread.
  nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  init(_ io: IOThread, by adapter: BluetoothAdapterName?, _ tell: @escaping @Sendable (RadioEvent) -> Void) {
    (self.io, self.adapter, self.tell) = (io, adapter, tell)
  }

  /// The known devices. May be called on any thread.
  nonisolated var known: [RadioKnown] { snapshot.withLock { Array($0.values) } }

  /// BlueZ's objects now.
  var objects: BluetoothObjects { bluez?.enter { $0.objects } ?? BluetoothObjects() }

  // MARK: - Start and end

  func begin(_ bus: String?) async {
    do throws(AccessoryError) {
      let bluez = try await BlueZ.open(bus, awaitsDaemon: true, io: io)
      guard !isClosed else { return await bluez.close() }
      self.bluez = bluez
      _ = await bluez.observe { [weak self] event, objects in self?.enter { $0.follow(event, objects) } }
      lookAtAll(objects)
      update(objects)
    } catch {
      guard !isClosed else { return }
      become(error.kind == .permissionDenied ? .unauthorized : .unsupported)
    }
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    wanted = nil
    let owned = dropLinks()
    guard let bluez else { return }
    self.bluez = nil
    let leaving = Array(leaving.values)
    // The search ends with the connection to bluetoothd; connections to devices don't.
    Task {
      for end in owned.map({ path in Task { await bluez.disconnect(path) } }) + leaving { await end.value }
      await bluez.close()
    }
  }

  private func become(_ state: RadioState) {
    guard state != self.state, !isClosed else { return }
    self.state = state
    if state != .on {
      wanted = nil
      let owned = dropLinks()
      if let bluez { for path in owned { Task { await bluez.disconnect(path) } } }
    }
    tell(.state(state))
    arrange()
  }

  /// Drops all connections without reporting it. Returns the paths of those that this session has made.
  private func dropLinks() -> [String] {
    let dropped = links.values
    for loss in losses.values { io.cancel(loss.timer) }
    (links, losses) = ([:], [:])
    for link in dropped { letGo(link, telling: false) }
    return dropped.filter(\.isOurs).map(\.path)
  }

  // MARK: - Following BlueZ

  private func follow(_ event: BlueZEvent, _ objects: BluetoothObjects) {
    guard !isClosed else { return }
    switch event {
    case .gone:
      become(bluez?.enter { $0.hasBus } == true ? .resetting : .unsupported)
      current = nil
      lookAtAll(objects)
    case .returned:
      lookAtAll(objects)
      update(objects)
    case .value(let path, let bytes): signalled(path, bytes)
    case .changed(let path):
      if objects.adapters[path] != nil || adapters.contains(path) {
        lookAtAll(objects)
        update(objects)
      } else if objects.devices[path] != nil || peers[path] != nil {
        look(at: path, objects)
      } else {
        tableMayHaveChanged(path, objects)
      }
    }
  }

  private func update(_ objects: BluetoothObjects) {
    let adapters = objects.adapters(adapter)
    become(adapters.isEmpty ? .unsupported : adapters.contains(where: \.isPowered) ? .on : .off)
  }

  private func lookAtAll(_ objects: BluetoothObjects) {
    // A device's number depends on its adapter's address.
    let isSame = adapters == Set(objects.adapters.keys)
    adapters = Set(objects.adapters.keys)
    if isSame, !adapters.isEmpty { return }
    for path in Set(peers.keys).union(objects.devices.keys).sorted() { look(at: path, objects) }
  }

  private func look(at path: String, _ objects: BluetoothObjects) {
    guard let device = objects.devices[path], let address = device.address,
      adapter == nil || objects.adapters(adapter).contains(where: { $0.path == device.adapter })
    else {
      guard let peer = peers[path] else { return }
      peers[path] = nil
      if links[peer] == nil {
        paths[peer] = nil
        strengths.hear(nil, of: peer, at: .now)
      }
      _ = snapshot.withLock { $0.removeValue(forKey: peer) }
      if let link = links[peer], link.isMade { lose(link) }
      return
    }
    let peer = RadioPeer(adapter: objects.adapters[device.adapter]?.address, address: address)
    if let before = peers[path], before != peer { _ = snapshot.withLock { $0.removeValue(forKey: before) } }
    (paths[peer], peers[path]) = (path, peer)
    strengths.hear(device.signalStrength, of: peer, at: .now)
    let known = RadioKnown(
      peer, name: device.name, isConnected: device.isConnected, services: device.services.sorted())
    let before = snapshot.withLock { $0.updateValue(known, forKey: peer) }
    if let before, before.name != known.name { tell(.named(peer, known.name)) }
    if let link = links[peer], link.isMade {
      if device.isConnected { follow(link, device) } else { lose(link) }
    }
    hear(device, peer)
  }

  /// The path of a device's object, if BlueZ has reported it.
  func path(of peer: RadioPeer) -> String? { paths[peer] }

  /// The current signal strength in dBm; nil if it isn't known.
  func strength(of peer: RadioPeer) -> Int? { strengths.strength(of: peer, at: .now) }

  // MARK: - Searching

  private func hear(_ device: BluetoothDevice, _ peer: RadioPeer) {
    guard let wanted, let strength = device.signalStrength, !device.isConnected, wanted.fits(device.services),
      // Bluetooth Classic devices are received while another program searches for them.
      device.deviceClass == nil || wanted.services != nil
    else { return }
    tell(
      .found(
        RadioAdvertisement(
          peer, name: device.name, strength: strength, services: device.services.sorted(),
          manufacturerData: device.manufacturerData, serviceData: device.serviceData, power: device.sendingPower)))
  }

  func search(_ search: RadioSearch?) {
    guard state == .on else { return }
    wanted = search
    // Report the devices that another program's search has found already.
    let objects = objects
    if search != nil { for (path, device) in objects.devices { if let peer = peers[path] { hear(device, peer) } } }
    arrange()
  }

  /// The necessary search: all devices while the client waits for a device that BlueZ doesn't know.
  private var needed: RadioSearch? {
    guard state == .on, !isClosed else { return nil }
    if links.values.contains(where: \.isSearchedFor) { return RadioSearch(nil, wantsAll: wanted?.wantsAll ?? false) }
    return wanted
  }

  /// Starts, ends or changes the search.
  func arrange() {
    guard !isArranging else { return }
    isArranging = true
    Task {
      var pause = Self.pauses.first
      while let bluez, needed != current?.search {
        if let (_, adapter) = current {
          current = nil
          await bluez.stopSearching(on: adapter)
          continue
        }
        guard let needed else { continue }
        do throws(AccessoryError) {
          let adapter = try await bluez.adapter(self.adapter)
          try await bluez.startSearching(
            .lowEnergy, for: (needed.services ?? []).sorted(), allSignals: needed.wantsAll, on: adapter)
          current = (needed, adapter)
        } catch {
          await io.sleep(for: pause)
          pause = min(pause * 2, Self.pauses.longest)
        }
      }
      isArranging = false
    }
  }

  // MARK: - Commands

  func take(_ command: RadioCommand) {
    guard !isClosed else { return }
    switch command {
    case .search(let search): self.search(search)
    case .connect(let link): connect(link)
    case .disconnect(let link): disconnect(link)
    case .hold(let isHeld): hold(isHeld)
    case .discover(let link), .read(let link, _), .write(let link, _, _), .writeCommand(let link, _, _),
      .notify(let link, _, _), .measure(let link):
      guard let known = links[link.peer], known.link == link, known.isMade else { return }
      known.operations.append(command)
      pump(known)
    }
  }
}
