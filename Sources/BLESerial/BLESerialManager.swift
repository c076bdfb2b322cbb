// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import CoreBluetooth

/// Finds modules with a serial port by their signal strength, connects them, and reconnects lost ones.
///
/// It is the serial manager of the articles about HM-10 on iOS, on top of `CoreBluetooth`. Devices are named by their `identifier`.
/// All members may be used from any thread. The release of the manager ends its search and its connections.
public final class BLESerialManager: Sendable {
  let core: SerialCore

  /// A manager that calls `delegate` on `queue`; nil means the main queue. It searches for the time `search` as soon as Bluetooth is
  /// on; nil means no search. It finds devices with one of these services; nil means all devices. The serial port is the
  /// characteristic `port`, by default FFE1, as HM-10 modules have.
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

  /// The delegate. The manager doesn't retain it.
  public weak var delegate: (any BLESerialDelegate)? {
    get { core.delegate }
    set { core.set(newValue) }
  }

  /// Whether Bluetooth can be used now.
  public var state: CBManagerState { core.bluetooth }

  /// Whether any lost device is being reconnected.
  public var isReconnecting: Bool { core.isReconnecting }

  // MARK: - Settings

  /// Whether a lost device is reconnected: at most `tries` times, the first time after `timeBetweenTries`. A try takes at most
  /// `timePerTry`. By default on, with 3 tries and 1 s between them. A device that was lost because Bluetooth was switched off is
  /// reconnected when it is on again.
  public func setAutomaticReconnectOnDisconnect(
    _ isOn: Bool = true, tries: Int = 3, timeBetweenTries pause: Duration = .seconds(1),
    timePerTry limit: Duration = .seconds(10)
  ) {
    core.set(reconnects: SerialCore.Tries(isOn ? tries : 0, pause, limit))
  }

  /// Whether a failed connection is tried again: at most `tries` times, each after `timeBetweenTries`. Every try, also the first,
  /// takes at most `timePerTry`. By default on, with 3 tries and 1 s between them.
  public func setRetryConnectAfterFail(
    _ isOn: Bool = true, tries: Int = 3, timeBetweenTries pause: Duration = .seconds(1),
    timePerTry limit: Duration = .seconds(10)
  ) {
    core.set(retries: SerialCore.Tries(isOn ? tries : 0, pause, limit))
  }

  /// The most devices that are connected or being connected at a time; by default 1. Existing connections stay.
  public func setMultipleConnections(numberOfDevices count: Int) { core.set(connections: count) }

  // MARK: - Searching

  /// Forgets the found devices, except those that are connected or being connected, and searches for `time`; then calls
  /// `serialManagerSearchTimerExpired`. If Bluetooth is off, the search begins when it is on.
  public func search(for time: Duration) { core.search(time) }

  /// Ends the search. The delegate isn't called.
  public func stopSearch() { core.stopSearch() }

  /// Whether a search is running.
  public var isSearching: Bool { core.isSearching }

  /// The found devices, at most 1,024.
  public var discoveredDevices: [UUID: CBPeripheral] { core.found.mapValues(\.peripheral) }

  /// The number of found devices.
  public var numberOfDiscoveredDevices: Int { core.found.count }

  /// The found devices, sorted by signal strength, the strongest first and unknown strengths last.
  public var devicesByStrength: [UUID] {
    core.found.sorted { ($1.value.strength ?? Int.min, $0.key) < ($0.value.strength ?? Int.min, $1.key) }.map(\.key)
  }

  /// The last signal strength of a device in dBm; nil if it is unknown.
  public func strength(of device: UUID) -> Int? { core.found[device]?.strength }

  /// The name of a device; empty if it advertises none. Untrusted: any device can advertise any name.
  public func name(of device: UUID) -> String { core.found[device]?.peripheral.name ?? "" }

  /// The advertisement data of a device, by the keys of CoreBluetooth.
  public func advertisement(of device: UUID) -> [String: Any] { core.found[device]?.advertisement.value ?? [:] }

  // MARK: - Connections

  /// Starts to connect a device. Returns false if it wasn't found, is connected or being connected, if there are too many
  /// connections, or if Bluetooth is off.
  @discardableResult
  public func connect(to device: UUID) -> Bool { core.connect(device) }

  /// Ends a connection, or the attempts to connect.
  public func disconnect(_ device: UUID) { core.disconnect(device) }

  /// The status of a device.
  public func status(of device: UUID) -> BLESerialStatus { core.found[device]?.status ?? .disconnected }

  /// The connected devices.
  public var connectedDevices: [UUID] { core.found.filter { $0.value.status == .connected }.map(\.key).sorted() }

  /// The services of a connected device; nil before `deviceIsReady`.
  public func services(of device: UUID) -> [CBService]? { core.services(of: device) }

  /// Sends bytes to the serial port of a device, in as many packets as needed. Returns false, and sends nothing, if it isn't ready or
  /// more than 64 KiB would wait.
  @discardableResult
  public func send(_ data: Data, to device: UUID) -> Bool { core.send(Array(data), device) }
}
