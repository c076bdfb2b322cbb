// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CoreBluetooth

/// The work of the manager. CoreBluetooth calls it on `queue`, and clients on any thread.
///
/// A change of the state, its calls to CoreBluetooth and its calls to the delegate are queued in one step under the lock, so all
/// three have the same order. CoreBluetooth takes its own locks inside this one, and makes no calls while it holds them.
final class SerialCore: NSObject, Sendable {
  /// The settings for repeated tries.
  struct Tries: Sendable {
    let count: Int
    let pause: Duration
    let limit: Duration

    init(_ count: Int, _ pause: Duration, _ limit: Duration) {
      (self.count, self.pause, self.limit) = (max(0, count), max(.zero, pause), max(.zero, limit))
    }
  }

  struct State: Sendable {
    var central: CBCentralManager?
    var client = WeakClient()
    var devices: [UUID: SerialDevice] = [:]
    var reconnects = Tries(3, .seconds(1), .seconds(10))
    var retries = Tries(3, .seconds(1), .seconds(10))
    var connections = 1
    /// How long to search as soon as Bluetooth is on.
    var wish: Duration?
    var isSearching = false
    /// Changes with each search, so that the timer of an earlier one is ignored.
    var searchNumber = 0
  }

  /// The most devices that are kept, and the most bytes that wait for one device.
  static let limits = (devices: 1_024, bytes: 65_536)

  let contents = Locked(State())
  private let queue: DispatchQueue
  private let services: [CBUUID]?
  let port: CBUUID
  private let clock: any TimerClock

  init(_ queue: DispatchQueue?, _ services: [CBUUID]?, _ port: CBUUID, _ clock: any TimerClock) {
    self.queue = DispatchQueue(label: "BLESerial", target: queue ?? .main)
    (self.services, self.port, self.clock) = (services, port, clock)
    super.init()
  }

  func begin(for manager: BLESerialManager, _ search: Duration?) {
    contents.withLock { $0.client.manager = manager }
    let central = CBCentralManager(delegate: self, queue: queue)
    contents.withLock { state in
      state.central = central
      state.wish = search
      // The state may have been reported before.
      if let search, central.state == .poweredOn { begin(search, &state) }
    }
  }

  /// Ends everything. The delegate isn't called.
  func close() {
    let (central, devices) = contents.withLock { state in
      defer { (state.central, state.devices) = (nil, [:]) }
      return (state.central, state.devices)
    }
    // Release them here, without the lock.
    withExtendedLifetime((central, devices)) {}
  }

  // MARK: - What clients see and set

  var delegate: (any BLESerialDelegate)? { contents.withLock { $0.client.strong }.delegate }

  func set(_ delegate: (any BLESerialDelegate)?) {
    let client = StrongClient(manager: nil, delegate: delegate)
    contents.withLock { $0.client.delegate = client.delegate }
  }

  func set(reconnects: Tries) { contents.withLock { $0.reconnects = reconnects } }
  func set(retries: Tries) { contents.withLock { $0.retries = retries } }
  func set(connections: Int) { contents.withLock { $0.connections = max(0, connections) } }

  var bluetooth: CBManagerState { contents.withLock { $0.central }?.state ?? .unknown }
  var found: [UUID: SerialDevice] { contents.withLock { $0.devices } }
  var isReconnecting: Bool { found.values.contains { $0.status == .reconnecting } }
  var isSearching: Bool { contents.withLock { $0.isSearching || $0.wish != nil } }

  func services(of device: UUID) -> [CBService]? {
    contents.withLock { $0.devices[device].flatMap { $0.isReady ? $0.peripheral.services : nil } }
  }

  // MARK: - Calling the delegate

  /// Queues a call to the delegate, after the earlier ones.
  func tell(_ body: @escaping @Sendable (BLESerialManager, any BLESerialDelegate) -> Void) {
    queue.async { [weak self] in
      guard let client = self?.contents.withLock({ $0.client.strong }), let manager = client.manager,
        let delegate = client.delegate
      else { return }
      body(manager, delegate)
    }
  }

  /// Puts a device into another phase, and reports its status if that has changed.
  func enter(_ phase: SerialDevice.Phase, _ id: UUID, _ state: inout State) {
    guard let before = state.devices[id]?.status else { return }
    state.devices[id]?.phase = phase
    state.devices[id]?.round += 1
    guard let status = state.devices[id]?.status, status != before else { return }
    tell { $1.serialManager($0, deviceStatusChanged: id, to: status) }
  }

  /// Calls `body` on the queue after a time, unless the device's phase has changed by then.
  private func later(
    _ time: Duration, _ id: UUID, _ state: State, _ body: @escaping @Sendable (SerialCore, inout State) -> Void
  ) {
    guard let round = state.devices[id]?.round else { return }
    after(time) { core in
      core.contents.withLock { state in if state.devices[id]?.round == round { body(core, &state) } }
    }
  }

  private func after(_ time: Duration, _ body: @escaping @Sendable (SerialCore) -> Void) {
    _ = clock.schedule(at: clock.now + time) { [weak self] in
      guard let self else { return }
      queue.async { [weak self] in if let self { body(self) } }
    }
  }

  // MARK: - Searching

  func search(_ time: Duration) {
    contents.withLock { state in
      guard state.central?.state == .poweredOn else { return state.wish = time }
      begin(time, &state)
    }
  }

  func begin(_ time: Duration, _ state: inout State) {
    state.wish = nil
    state.devices = state.devices.filter { $0.value.phase != .idle }
    state.isSearching = true
    state.searchNumber += 1
    state.central?.scanForPeripherals(withServices: services)
    let number = state.searchNumber
    after(time) { core in
      core.contents.withLock { state in
        guard state.isSearching, state.searchNumber == number else { return }
        state.isSearching = false
        state.central?.stopScan()
        core.tell { $1.serialManagerSearchTimerExpired($0) }
      }
    }
  }

  func stopSearch() {
    contents.withLock { state in
      state.wish = nil
      guard state.isSearching else { return }
      state.isSearching = false
      state.central?.stopScan()
    }
  }

  // MARK: - Connections

  func connect(_ id: UUID) -> Bool {
    contents.withLock { state in
      guard let device = state.devices[id], device.phase == .idle, state.central?.state == .poweredOn,
        state.devices.values.count(where: { $0.phase != .idle }) < state.connections
      else { return false }
      attempt(0, again: false, id, &state)
      return true
    }
  }

  func disconnect(_ id: UUID) {
    contents.withLock { state in
      guard let device = state.devices[id] else { return }
      switch device.phase {
      case .idle, .leaving: break
      case .pausing, .withoutBluetooth: enter(.idle, id, &state)
      case .trying, .connected:
        enter(.leaving, id, &state)
        state.central?.cancelPeripheralConnection(device.peripheral)
      case .givingUp: enter(.leaving, id, &state)
      }
    }
  }

  /// Starts a try, and the timer of its time limit.
  private func attempt(_ number: Int, again: Bool, _ id: UUID, _ state: inout State) {
    guard let peripheral = state.devices[id]?.peripheral else { return }
    enter(.trying(number, again: again), id, &state)
    state.central?.connect(peripheral)
    later((again ? state.reconnects : state.retries).limit, id, state) { core, state in
      core.enter(.givingUp(number, again: again), id, &state)
      state.central?.cancelPeripheralConnection(peripheral)
    }
  }

  /// Continues after a failed try or a lost connection: `number` tries were made. The next try comes after a pause.
  func goOn(_ number: Int, again: Bool, _ id: UUID, _ state: inout State) {
    let tries = again ? state.reconnects : state.retries
    guard number < tries.count else { return enter(.idle, id, &state) }
    enter(.pausing(number + 1, again: again), id, &state)
    later(tries.pause, id, state) { core, state in core.attempt(number + 1, again: again, id, &state) }
  }
}

/// Weak references to the client's objects.
///
/// `@unchecked Sendable`: a value is behind the lock. The delegate is called on the client's queue alone.
struct WeakClient: @unchecked Sendable {
  weak var manager: BLESerialManager?
  weak var delegate: (any BLESerialDelegate)?

  var strong: StrongClient { StrongClient(manager: manager, delegate: delegate) }
}

/// Strong references to the client's objects, during a call.
///
/// `@unchecked Sendable`: created behind the lock, and used only by the thread that held it.
struct StrongClient: @unchecked Sendable {
  let manager: BLESerialManager?
  let delegate: (any BLESerialDelegate)?
}
