// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import Dispatch
import Foundation

/// The implementation of a central manager: it owns the radio's session, and calls the delegates on their queue.
///
/// Events of the radio are passed to `delivery`. Only there they change the state that clients see, directly before the
/// call of the delegate. Clients call on any thread. A lock is taken in this order: a peripheral's, this one, the
/// radio's; never the other way round, and delegates are called without any. Clients' objects are released outside of
/// it, because that may cancel a connection.
final class CentralCore: Sendable {
  private struct State {
    var session: (any RadioSession)?
    var radio = CBManagerState.unknown
    var isTold = false
    var client = WeakClient()
    var search: RadioSearch?
    /// The data that each device has advertised in this search.
    var heard: [RadioPeer: Set<String>] = [:]
    var peripherals: [RadioPeer: WeakPeripheral] = [:]
    var pruneCount = 64
    /// The connected devices, which are retained for the client.
    var kept: [RadioPeer: CBPeripheral] = [:]
    var lastNumber = 0
    /// The amount that waits for the client's queue.
    var waiting = (values: 0, finds: 0)
    var isHeld = false
  }

  private let state = Locked(State())
  private let delivery: DispatchQueue

  /// The number of values waiting for the client's queue at which the radio pauses, and the number at which it
  /// continues.
  static let values = (most: 1_024, few: 256)
  /// The most advertisements that wait for the client's queue. Further ones are dropped, because devices repeat them.
  private static let findLimit = 512
  /// The most devices of a search that are reported once each. Further ones are dropped.
  private static let heardLimit = 16_384

  init(_ queue: DispatchQueue?) { delivery = DispatchQueue(label: "CoreBluetooth", target: queue ?? .main) }

  func begin(for manager: CBCentralManager) {
    state.withLock { $0.client.manager = manager }
    // Events wait for the session: the client may use it as soon as it is told the state.
    delivery.suspend()
    defer { delivery.resume() }
    let session = AdapterChoice.radio.begin { [weak self] event in self?.receive(event) }
    state.withLock { $0.session = session }
  }

  /// Ends everything without a report.
  func close() {
    let (session, kept) = state.withLock { state in
      defer { (state.session, state.kept, state.search) = (nil, [:], nil) }
      return (state.session, state.kept)
    }
    session?.close()
    for peripheral in kept.values { peripheral.reset() }
  }

  // MARK: - What clients see and do

  var radioState: CBManagerState { state.withLock { $0.radio } }
  var isScanning: Bool { state.withLock { $0.search != nil } }
  var delegate: (any CBCentralManagerDelegate)? { state.withLock { $0.client.strong }.delegate }

  func set(_ delegate: (any CBCentralManagerDelegate)?) {
    let client = StrongClient(manager: nil, delegate: delegate)
    state.withLock { $0.client.delegate = client.delegate }
  }

  func send(_ command: RadioCommand) { state.withLock { $0.session }?.send(command) }

  /// The number of the next connection.
  func nextLink(to peer: RadioPeer) -> RadioLink {
    state.withLock { state in
      state.lastNumber += 1
      return RadioLink(peer, state.lastNumber)
    }
  }

  /// Whether a call is possible now; otherwise it is logged.
  func mayUse(_ peripheral: CBPeripheral, _ call: String) -> Bool {
    guard isOn(call) else { return false }
    guard peripheral.core === self else {
      Misuse.log("\(call): the peripheral is another manager's")
      return false
    }
    return true
  }

  private func isOn(_ call: String) -> Bool {
    let radio = radioState
    if radio != .poweredOn { Misuse.log("\(call) before the state is poweredOn: it is \(radio)") }
    return radio == .poweredOn
  }

  func search(_ services: [CBUUID]?, _ options: [String: Any]?) {
    guard isOn("scanForPeripherals(withServices:options:)") else { return }
    let wanted = services?.isEmpty == false ? services?.map(\.bluetooth) : nil
    let search = RadioSearch(wanted, wantsAll: options.isTrue(CBCentralManagerScanOptionAllowDuplicatesKey))
    state.withLock { state in
      (state.search, state.heard) = (search, [:])
      state.session?.send(.search(search))
    }
  }

  func stopSearch() {
    guard isOn("stopScan()") else { return }
    state.withLock { state in
      guard state.search != nil else { return }
      (state.search, state.heard) = (nil, [:])
      state.session?.send(.search(nil))
    }
  }

  func retrieve(_ identifiers: [UUID]) -> [CBPeripheral] {
    guard isOn("retrievePeripherals(withIdentifiers:)") else { return [] }
    let known = Dictionary(knownDevices.map { ($0.peer, $0) }) { first, _ in first }
    return identifiers.compactMap { identifier in
      let peer = RadioPeer(identifier)
      if let known = known[peer] { return object(known) }
      return state.withLock { $0.peripherals[peer]?.object }
    }
  }

  func retrieveConnected(_ services: [CBUUID]) -> [CBPeripheral] {
    guard isOn("retrieveConnectedPeripherals(withServices:)") else { return [] }
    let wanted = Set(services.map(\.bluetooth))
    return knownDevices.filter { $0.isConnected && !wanted.isDisjoint(with: $0.services) }
      .sorted { $0.peer < $1.peer }.map(object)
  }

  private var knownDevices: [RadioKnown] { state.withLock { $0.session }?.known ?? [] }

  // MARK: - Objects

  private func object(_ known: RadioKnown) -> CBPeripheral {
    let object = object(known.peer)
    if let name = known.name { _ = object.rename(name) }
    return object
  }

  /// The one object of a device.
  private func object(_ peer: RadioPeer) -> CBPeripheral {
    let (object, others) = state.withLock { state -> (CBPeripheral, [CBPeripheral]) in
      if let object = state.peripherals[peer]?.object { return (object, []) }
      var others: [CBPeripheral] = []
      if state.peripherals.count >= state.pruneCount {
        // This may be the last reference to an object found here, so it is released outside the lock.
        for (peer, weak) in state.peripherals {
          if let object = weak.object { others.append(object) } else { state.peripherals[peer] = nil }
        }
        state.pruneCount = max(64, 2 * state.peripherals.count)
      }
      let object = CBPeripheral(peer, self)
      state.peripherals[peer] = WeakPeripheral(object: object)
      return (object, others)
    }
    _ = consume others
    return object
  }

  private func existing(_ peer: RadioPeer) -> CBPeripheral? { state.withLock { $0.peripherals[peer]?.object } }

  // MARK: - What the radio tells

  /// Calls `body` on the client's queue, after all earlier reports.
  func deliver(_ body: @escaping @Sendable () -> Void) { delivery.async(execute: body) }

  private func receive(_ event: RadioEvent) {
    let isTaken = state.withLock { state in
      switch event {
      case .value:
        state.waiting.values += 1
        if state.waiting.values >= Self.values.most, !state.isHeld {
          state.isHeld = true
          state.session?.send(.hold(true))
        }
      case .found:
        guard state.waiting.finds < Self.findLimit else { return false }
        state.waiting.finds += 1
      default: break
      }
      return true
    }
    guard isTaken else { return }
    deliver { [weak self] in self?.take(event) }
  }

  private func take(_ event: RadioEvent) {
    // The client may release the manager during the call.
    let client = state.withLock { $0.client.strong }
    guard client.manager != nil else { return }
    switch event {
    case .state(let state): update(CBManagerState(state), client)
    case .found(let advertisement):
      state.withLock { $0.waiting.finds -= 1 }
      found(advertisement, client)
    case .named(let peer, let name): existing(peer)?.isNamed(name)
    case .connected(let link, let size): connected(link, size, client)
    case .ended(let link, let failure): ended(link, failure, client)
    case .value(let link, let handle, let bytes):
      existing(link.peer)?.received(link, handle, .success(bytes))
      takenValue()
    case .packetSize(let link, let size): existing(link.peer)?.setPacketSize(link, size)
    case .table(let link, let result): existing(link.peer)?.discovered(link, result)
    case .tableChanged(let link, let table): existing(link.peer)?.changed(link, table)
    case .read(let link, let handle, let result):
      existing(link.peer)?.answered(link)
      existing(link.peer)?.received(link, handle, result)
    case .written(let link, let handle, let failure): existing(link.peer)?.wrote(link, handle, failure)
    case .sent(let link): existing(link.peer)?.sent(link)
    case .notifying(let link, let handle, let result): existing(link.peer)?.notifies(link, handle, result)
    case .strength(let link, let result): existing(link.peer)?.measured(link, result)
    }
  }

  private func takenValue() {
    state.withLock { state in
      state.waiting.values -= 1
      guard state.isHeld, state.waiting.values <= Self.values.few else { return }
      state.isHeld = false
      state.session?.send(.hold(false))
    }
  }

  private func update(_ radio: CBManagerState, _ client: StrongClient) {
    let (isNews, objects) = state.withLock { state -> (Bool, [CBPeripheral]) in
      let isNews = radio != state.radio || !state.isTold
      (state.radio, state.isTold) = (radio, true)
      guard radio != .poweredOn else { return (isNews, []) }
      (state.search, state.heard) = (nil, [:])
      let objects = state.peripherals.values.compactMap(\.object) + state.kept.values
      state.kept = [:]
      return (isNews, objects)
    }
    for object in objects { object.reset() }
    if isNews { client.tell { $1.centralManagerDidUpdateState($0) } }
  }

  private func found(_ advertisement: RadioAdvertisement, _ client: StrongClient) {
    let data = advertisement.dictionary
    let isNews = state.withLock { state in
      guard let search = state.search else { return false }
      if search.wantsAll { return true }
      let before = state.heard[advertisement.peer]
      guard before != nil || state.heard.count < Self.heardLimit else { return false }
      let told = (before ?? []).union(data.value.keys)
      state.heard[advertisement.peer] = told
      return told.count != before?.count ?? -1
    }
    guard isNews else { return }
    let object = object(advertisement.peer)
    if let name = advertisement.name { _ = object.rename(name) }
    client.tell {
      $1.centralManager(
        $0, didDiscover: object, advertisementData: data.value, rssi: NSNumber(value: advertisement.strength))
    }
  }

  private func connected(_ link: RadioLink, _ size: Int, _ client: StrongClient) {
    guard let object = existing(link.peer), object.isConnected(link, size) else {
      // The client doesn't wait for it any more.
      return send(.disconnect(link))
    }
    state.withLock { $0.kept[link.peer] = object }
    client.tell { $1.centralManager($0, didConnect: object) }
  }

  /// Reports a connection to the delegate for a device that was connected already.
  func tellConnected(_ object: CBPeripheral) {
    deliver { [weak self] in
      guard let self, object.state == .connected else { return }
      state.withLock { $0.client.strong }.tell { $1.centralManager($0, didConnect: object) }
    }
  }

  private func ended(_ link: RadioLink, _ failure: RadioFailure?, _ client: StrongClient) {
    guard let object = existing(link.peer), let end = object.hasEnded(link, failure) else { return }
    if case .reconnects = end {
    } else if object.state != .connected {
      _ = state.withLock { $0.kept.removeValue(forKey: link.peer) }
    }
    switch end {
    case .failed:
      client.tell { $1.centralManager($0, didFailToConnect: object, error: (failure ?? .connectionFailed).error) }
    case .disconnected(let error), .reconnects(let error):
      let isReconnecting = if case .reconnects = end { true } else { false }
      client.tell {
        $1.centralManager(
          $0, didDisconnectPeripheral: object, timestamp: Date().timeIntervalSinceReferenceDate,
          isReconnecting: isReconnecting, error: error?.error)
      }
    }
  }
}

extension CBManagerState {
  init(_ radio: RadioState) {
    self =
      switch radio {
      case .resetting: .resetting
      case .unsupported: .unsupported
      case .unauthorized: .unauthorized
      case .off: .poweredOff
      case .on: .poweredOn
      }
  }
}
