// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import CoreBluetooth

/// Finds modules with a serial port by the strength of their signals, connects them, and connects them again when they are lost.
///
/// It is the serial manager of the articles about HM-10 on iOS, on top of `CoreBluetooth`. Devices are named by their `identifier`.
/// All members may be used from any thread. Letting the manager go ends its search and its connections.
public final class BLESerialManager: Sendable {
  let core: SerialCore

  /// A manager that calls `delegate` on `queue`; nil means the main queue. It searches for `search` as soon as Bluetooth is on, or
  /// not at all where that is nil, and for devices with one of these services, or for all. The serial port is the characteristic
  /// `port`: FFE1, as HM-10 modules have, unless another one is given.
  public convenience init(
    delegate: (any BLESerialDelegate)? = nil, queue: DispatchQueue? = nil, services: [CBUUID]? = nil,
    port: CBUUID = CBUUID(string: "FFE1"), searchingFor search: Duration? = .seconds(10)
  ) {
    self.init(delegate, queue, services, port, search, clock: IOThread.shared)
  }

  init(
    _ delegate: (any BLESerialDelegate)?, _ queue: DispatchQueue?, _ services: [CBUUID]?, _ port: CBUUID,
    _ search: Duration?, clock: any TimerClock
  ) {
    core = SerialCore(queue, services, port, clock)
    core.set(delegate)
    core.begin(for: self, search)
  }

  deinit { core.close() }

  /// Whom to tell; it isn't kept.
  public weak var delegate: (any BLESerialDelegate)? {
    get { core.delegate }
    set { core.set(newValue) }
  }

  /// Whether Bluetooth can be used now.
  public var state: CBManagerState { core.bluetooth }

  /// Whether some device was lost and is being connected again.
  public var isReconnecting: Bool { core.isReconnecting }

  // MARK: - Settings

  /// Whether a device that is lost is connected again: after `timeBetweenTries` for the first time, at most `tries` times. A try
  /// takes at most `timePerTry`. At first on, with 3 tries and 1 s between them. A device that was lost because Bluetooth was
  /// switched off is connected again when it is on.
  public func setAutomaticReconnectOnDisconnect(
    _ isOn: Bool = true, tries: Int = 3, timeBetweenTries pause: Duration = .seconds(1),
    timePerTry limit: Duration = .seconds(10)
  ) {
    core.set(reconnects: SerialCore.Tries(isOn ? tries : 0, pause, limit))
  }

  /// Whether a device that can't be connected is tried again: at most `tries` times, after `timeBetweenTries` each. A try takes at
  /// most `timePerTry`, also the first. At first on, with 3 tries and 1 s between them.
  public func setRetryConnectAfterFail(
    _ isOn: Bool = true, tries: Int = 3, timeBetweenTries pause: Duration = .seconds(1),
    timePerTry limit: Duration = .seconds(10)
  ) {
    core.set(retries: SerialCore.Tries(isOn ? tries : 0, pause, limit))
  }

  /// How many devices may be connected at a time, with those that are being connected: at first 1. What is connected stays.
  public func setMultipleConnections(numberOfDevices count: Int) { core.set(connections: count) }

  // MARK: - Searching

  /// Forgets what was found, but for devices that are connected or being connected, and searches for `time`; then
  /// `serialManagerSearchTimerExpired` is called. Where Bluetooth isn't on, the search begins when it is.
  public func search(for time: Duration) { core.search(time) }

  /// Ends the search. Nobody is told.
  public func stopSearch() { core.stopSearch() }

  /// Whether a search goes on.
  public var isSearching: Bool { core.isSearching }

  /// What was found, at most 1,024 devices.
  public var discoveredDevices: [UUID: CBPeripheral] { core.found.mapValues(\.peripheral) }

  /// How many devices were found.
  public var numberOfDiscoveredDevices: Int { core.found.count }

  /// The devices that were found, the one with the strongest signal first; those whose strength isn't known are the last.
  public var devicesByStrength: [UUID] {
    core.found.sorted { ($1.value.strength ?? Int.min, $0.key) < ($0.value.strength ?? Int.min, $1.key) }.map(\.key)
  }

  /// The strength of a device's signal in dBm, as it was heard last; nil where it isn't known.
  public func strength(of device: UUID) -> Int? { core.found[device]?.strength }

  /// The name of a device; empty where it tells none. Anybody can tell any name.
  public func name(of device: UUID) -> String { core.found[device]?.peripheral.name ?? "" }

  /// What a device has told while it was searched for, by the keys of CoreBluetooth.
  public func advertisement(of device: UUID) -> [String: Any] { core.found[device]?.advertisement.value ?? [:] }

  // MARK: - Connections

  /// Begins to connect a device. False where it isn't: when it wasn't found, is connected or being connected, when there are as
  /// many connections as there may be, or when Bluetooth isn't on.
  @discardableResult
  public func connect(to device: UUID) -> Bool { core.connect(device) }

  /// Ends a connection, or the attempts to make one.
  public func disconnect(_ device: UUID) { core.disconnect(device) }

  /// Whether a device is connected.
  public func status(of device: UUID) -> BLESerialStatus { core.found[device]?.status ?? .disconnected }

  /// The devices that are connected.
  public var connectedDevices: [UUID] { core.found.filter { $0.value.status == .connected }.map(\.key).sorted() }

  /// The services of a connected device; nil before `deviceIsReady`.
  public func services(of device: UUID) -> [CBService]? { core.services(of: device) }

  /// Sends bytes to the serial port of a device, in as many packets as are needed. False where it isn't ready, and where more than
  /// 64 KiB would wait: then nothing of `data` is sent.
  @discardableResult
  public func send(_ data: Data, to device: UUID) -> Bool { core.send(Array(data), device) }
}
