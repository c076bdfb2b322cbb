// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

/// Finds and connects devices of Bluetooth Low Energy.
///
/// All members may be used from any thread. The delegate is called on the given queue, one call at a time and in order,
/// even if it is a concurrent queue.
///
/// `@unchecked Sendable`: its only stored property is a constant that is `Sendable`. A class that others may inherit from can't be
/// checked.
open class CBCentralManager: CBManager, @unchecked Sendable {
  private let core: CentralCore

  /// Optional features of a computer.
  public struct Feature: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt
    /// The features with these bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// Long advertisements are received, and connections are made by them.
    public static let extendedScanAndConnect = Self(rawValue: 1)
  }

  /// A manager without a delegate, whose delegate is called on the main queue.
  public convenience init() { self.init(delegate: nil, queue: nil) }

  /// A manager that calls `delegate` on `queue`; nil means the main queue.
  public convenience init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?) {
    self.init(delegate: delegate, queue: queue, options: nil)
  }

  /// The same; the options have no effect on Linux.
  public init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil) {
    core = CentralCore(queue)
    super.init(named: ())
    core.set(delegate)
    core.begin(for: self)
  }

  deinit { core.close() }

  /// The delegate; not retained.
  open weak var delegate: (any CBCentralManagerDelegate)? {
    get { core.delegate }
    set { core.set(newValue) }
  }

  /// Whether Bluetooth can be used now.
  open override var state: CBManagerState { core.radioState }

  /// Whether it searches for devices.
  open var isScanning: Bool { core.isScanning }

  /// Always false: BlueZ uses long advertisements if the adapter supports them, and doesn't report it.
  open class func supports(_ features: Feature) -> Bool { false }

  /// Searches for devices that advertise one of these services, or for all devices, until `stopScan`. Replaces a
  /// running search. An empty list is the same as nil.
  open func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil) {
    core.search(serviceUUIDs, options)
  }

  /// Ends the search.
  open func stopScan() { core.stopSearch() }

  /// Connects a device, without a time limit, until it is cancelled. Keep `peripheral`: releasing it cancels, too.
  open func connect(_ peripheral: CBPeripheral, options: [String: Any]? = nil) {
    guard core.mayUse(peripheral, "connect(_:options:)") else { return }
    peripheral.connect(options)
  }

  /// Ends a connection, or the attempt to make one. If another program has connected the device, it stays connected.
  open func cancelPeripheralConnection(_ peripheral: CBPeripheral) {
    guard core.mayUse(peripheral, "cancelPeripheralConnection(_:)") else { return }
    peripheral.cancelConnection()
  }

  /// Without effect on Linux.
  open func registerForConnectionEvents(options: [CBConnectionEventMatchingOption: Any]? = nil) {}

  /// The known devices with these identifiers: those of BlueZ, which forgets most after half a minute, and those of
  /// this program.
  open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] {
    core.retrieve(identifiers)
  }

  /// The devices with one of these services that any program of this computer has connected. Connect them before you
  /// use them.
  open func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBUUID]) -> [CBPeripheral] {
    core.retrieveConnected(serviceUUIDs)
  }
}
