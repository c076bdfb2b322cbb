// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// Searches for Bluetooth devices with HM-10 modules, and connects to them. Retries failed attempts and reconnects lost
/// connections as its policy says.
///
/// Devices are identified by their addresses. Each module has at most one connection.
public actor HM10Central {
  struct Connection {
    enum Stage {
      case connecting, connected, reconnecting
    }

    let radio: Int
    let isDual: Bool
    /// Distinguishes this connection from an earlier one to the same device.
    let number: Int
    var stage = Stage.connecting
    /// Whether the connection was lost before `connect` has returned.
    var isLostEarly = false
    /// The task that reconnects.
    var task: Task<Void, Never>?
  }

  /// How the central retries and reconnects.
  public let policy: HM10CentralPolicy
  let radios: [any HM10Radio]
  let clock: any TimerClock

  var found: [BluetoothAddress: HM10Neighbour] = [:]
  /// The devices in the order in which they were found.
  var order: [BluetoothAddress] = []
  var connections: [BluetoothAddress: Connection] = [:]
  var deadRadios: Set<Int> = []
  private var base = HM10CentralState.unknown
  private var toldState = HM10CentralState.unknown
  private var listeners: [Task<Void, Never>] = []
  private var subscribers: [Int: AsyncStream<HM10CentralEvent>.Continuation] = [:]
  private var count = 0
  private weak var delegate: (any HM10CentralDelegate)?

  /// A central with these modules, which the caller closes. `known` are devices that an earlier search has found.
  public init(
    _ radios: [any HM10Radio], policy: HM10CentralPolicy = .init(), known: [HM10Neighbour] = [],
    clock: any TimerClock = IOThread.shared
  ) {
    self.radios = radios
    self.policy = policy
    self.clock = clock
    for neighbour in known.prefix(policy.mostDevices)
    where found.updateValue(neighbour, forKey: neighbour.address) == nil {
      order.append(neighbour.address)
    }
  }

  deinit {
    for listener in listeners { listener.cancel() }
    for subscriber in subscribers.values { subscriber.finish() }
  }

  // MARK: - Subscribers

  /// The events from now on, for any number of subscribers. Each buffers up to 1024 events, then it loses the oldest.
  /// The stream ends with `stop`. It retains the central.
  public func events() -> AsyncStream<HM10CentralEvent> {
    let (stream, continuation) = AsyncStream<HM10CentralEvent>.makeStream(bufferingPolicy: .bufferingNewest(1_024))
    let key = newNumber()
    subscribers[key] = continuation
    continuation.onTermination = { _ in Task { await self.forget(key) } }
    return stream
  }

  /// Sets a delegate, which gets the same events as the subscribers; nil for none. The central doesn't retain it.
  public func setDelegate(_ delegate: (any HM10CentralDelegate)?) { self.delegate = delegate }

  private func forget(_ key: Int) { subscribers[key] = nil }

  func newNumber() -> Int {
    count += 1
    return count
  }

  func tell(_ event: HM10CentralEvent) {
    for subscriber in subscribers.values { subscriber.yield(event) }
    guard let delegate else { return }
    switch event {
    case .state(let state): delegate.central(self, changedTo: state)
    case .searchEnded: delegate.centralSearchEnded(self)
    case .connected(let address, _): delegate.central(self, connectedTo: address)
    case .lost(let address): delegate.central(self, lost: address)
    default: break
    }
    delegate.central(self, told: event)
  }

  // MARK: - State

  /// The central's current state.
  public var state: HM10CentralState {
    if !radios.isEmpty, deadRadios.count == radios.count { return .poweredOff }
    return connections.values.contains { $0.stage == .reconnecting } ? .reconnecting : base
  }

  func tellState() {
    let state = state
    guard state != toldState else { return }
    toldState = state
    tell(.state(state))
  }

  /// Prepares the modules, and then searches for this time in the background; nil doesn't search.
  ///
  /// Throws what the modules throw: `unsupported` or `refused` when a module can't be a central, `disconnected`, `timedOut`.
  public func start(searching time: Duration? = .seconds(5)) async throws(AccessoryError) {
    if listeners.isEmpty { listen() }
    base = .resetting
    tellState()
    for radio in radios {
      do throws(AccessoryError) {
        try await radio.prepare()
      } catch {
        base = Self.state(after: error)
        tellState()
        throw error
      }
    }
    base = .poweredOn
    tellState()
    if let time { Task { try? await search(for: time) } }
  }

  private static func state(after error: AccessoryError) -> HM10CentralState {
    switch error.kind {
    case .unsupported, .refused: .unsupported
    case .permissionDenied: .unauthorized
    case .disconnected: .poweredOff
    default: .unknown
    }
  }

  /// Ends searches, connections and streams of events. The modules stay open.
  public func stop() async {
    for address in Array(connections.keys) { try? await disconnect(from: address) }
    for listener in listeners { listener.cancel() }
    listeners = []
    for subscriber in subscribers.values { subscriber.finish() }
    subscribers = [:]
  }

  // MARK: - Events of the modules

  private func listen() {
    listeners = radios.enumerated().map { index, radio in
      let events = radio.events()
      return Task { [weak self] in
        do {
          for try await event in events { await self?.take(event, of: index) }
        } catch {}
        if !Task.isCancelled { await self?.lose(radio: index) }
      }
    }
  }

  private func take(_ event: HM10Event, of radio: Int) {
    switch event {
    case .found(let neighbour): remember(neighbour)
    case .data(let bytes):
      // Data may arrive before `connect` has returned, so the stage isn't checked.
      if let address = address(of: radio) { tell(.received(bytes, from: address)) }
    case .lost:
      guard let address = address(of: radio) else { return }
      if connections[address]?.stage == .connected {
        lose(address)
      } else {
        connections[address]?.isLostEarly = true
      }
    case .connected:
      // The connection was made after its attempt was given up, so it is ended.
      guard address(of: radio) == nil else { return }
      let unwanted = radios[radio]
      Task { try? await unwanted.disconnect() }
    case .other: break
    }
  }

  private func address(of radio: Int) -> BluetoothAddress? { connections.first { $0.value.radio == radio }?.key }

  /// Handles the loss of a module. Its connection is lost as well, without reconnecting.
  private func lose(radio: Int) {
    guard deadRadios.insert(radio).inserted else { return }
    if let address = address(of: radio) {
      let connection = connections.removeValue(forKey: address)
      connection?.task?.cancel()
      if connection?.stage == .connected { tell(.lost(address)) }
      tell(.gaveUp(address))
    }
    tellState()
  }
}
