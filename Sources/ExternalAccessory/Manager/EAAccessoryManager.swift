// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryFamilies
import Dispatch
import Foundation

/// The manager of the connected accessories.
public final class EAAccessoryManager: NSObject, Sendable {
  private let registry: AccessoryRegistry

  private static let instance = EAAccessoryManager(ProfileLibrary.load())

  /// The shared manager: simulators and the system's devices, with the profiles of this machine and user.
  private convenience init(_ library: ProfileLibrary) {
    var drivers = DriverLibrary.builtIn
    drivers.protocols = library.protocols
    self.init(
      sources: [SimulatorSource(), UdevSource()], profiles: library.store, drivers: drivers,
      services: ServicePlace.all(), bluetooth: BluetoothPicker())
    for problem in library.problems { registry.note(AccessoryError(.misconfigured, problem.description)) }
  }

  /// How long the initialiser waits for the present devices. Listing them is usually faster; devices found later are
  /// reported as connections.
  private static let listTimeout = Duration.seconds(5)

  /// The program's shared manager. The first call looks for accessories, which takes a few milliseconds.
  public class func shared() -> EAAccessoryManager { instance }

  /// Creates another manager, for the devices of `sources`, such as one that the user named. Waits until the sources
  /// have reported the present devices. `drivers` are the drivers that profiles may name. The picker waits for
  /// `scanTimeout`. Only on Linux.
  public convenience init(
    sources: [any DeviceSource], profiles: ProfileStore = .builtIn, drivers: DriverLibrary = .builtIn,
    scanTimeout: Duration = .seconds(30)
  ) {
    self.init(sources: sources, profiles: profiles, drivers: drivers, scanTimeout: scanTimeout, services: nil)
  }

  /// Creates a manager that also reports the accessories of the services at these sockets. With nil, only the sources
  /// report accessories; those that a running service holds are still opened through that service.
  package convenience init(
    sources: [any DeviceSource], profiles: ProfileStore = .builtIn, drivers: DriverLibrary = .builtIn,
    scanTimeout: Duration = .seconds(30), services: [String]?
  ) {
    self.init(
      sources: sources, profiles: profiles, drivers: drivers, scanTimeout: scanTimeout, services: services,
      bluetooth: nil)
  }

  /// The same, with a search by Bluetooth for the picker.
  init(
    sources: [any DeviceSource], profiles: ProfileStore = .builtIn, drivers: DriverLibrary = .builtIn,
    scanTimeout: Duration = .seconds(30), services: [String]?, bluetooth: BluetoothPicker?
  ) {
    registry = AccessoryRegistry(
      profiles: profiles, drivers: drivers, scanTimeout: scanTimeout, services: services ?? ServicePlace.all(),
      bluetooth: bluetooth)
    super.init()
    registry.serve(self)
    let ready = DispatchSemaphore(value: 0)
    for source in sources { registry.follow(source) { ready.signal() } }
    for service in services ?? [] { registry.follow(service: service) { ready.signal() } }
    let end = DispatchTime.now() + .milliseconds(Int(Self.listTimeout / .milliseconds(1)))
    for _ in 0..<(sources.count + (services ?? []).count) { _ = ready.wait(timeout: end) }
  }

  /// The connected accessories whose profiles have protocols. Each of them can be opened.
  public var connectedAccessories: [EAAccessory] { registry.accessories }

  /// Starts to post notifications of connections and disconnections on the main thread. A second call has no effect.
  public func registerForLocalNotifications() { registry.setRegistered(true) }

  /// Stops posting notifications.
  public func unregisterForLocalNotifications() { registry.setRegistered(false) }

  // MARK: - The picker

  /// Waits for the next accessory that is connected and whose name matches `predicate`. Accessories of any kind count,
  /// not only those on Bluetooth. No sheet is shown.
  ///
  /// The shared manager also searches for devices of Bluetooth Classic whose names match, for twelve seconds. Of these,
  /// `bluetoothAccessoryChooser` chooses one; without a chooser, the only one that fits is chosen, and none where
  /// `predicate` is nil. Only the chosen one is connected.
  ///
  /// Calls `completion` on the main thread: with nil when an accessory was connected, and otherwise with an
  /// `EABluetoothAccessoryPickerError`:
  ///
  /// - `resultNotFound` when there was none for 30 s, or `alreadyConnected` when a matching one has been connected all the
  ///   time,
  /// - `resultCancelled` when the chooser has chosen none,
  /// - `resultFailed` when several Bluetooth devices fit and there is no chooser, or when the chosen one can't be connected;
  ///   `discoveryErrors` says why.
  public func showBluetoothAccessoryPicker(
    withNameFilter predicate: NSPredicate?, completion: EABluetoothAccessoryPickerCompletion? = nil
  ) {
    _ = registry.pick(predicate, completion: completion)
  }

  /// Waits for the next accessory that is connected and whose name matches `predicate`.
  ///
  /// Throws `EABluetoothAccessoryPickerError` like the form with a completion, and `resultCancelled` when the task is
  /// cancelled.
  public nonisolated(nonsending) func showBluetoothAccessoryPicker(withNameFilter predicate: NSPredicate?) async throws
  {
    let picking = Picking(registry)
    try await withTaskCancellationHandler {
      let error = await withCheckedContinuation { (continuation: CheckedContinuation<(any Error)?, Never>) in
        picking.begin(registry.pick(predicate) { continuation.resume(returning: $0) })
      }
      if let error { throw error }
    } onCancel: {
      picking.cancel()
    }
  }

  // MARK: - Only on Linux

  /// Lets the user choose among the Bluetooth devices that the picker has found; nil for no choice. Set it before the
  /// picker is shown.
  public var bluetoothAccessoryChooser: EABluetoothAccessoryChooser? {
    get { registry.state.withLock { $0.chooser } }
    set { registry.state.withLock { $0.chooser = newValue } }
  }

  /// The protocols of Bluetooth devices that may be picked though no profile's rules match them; initially those that the
  /// program's Info.plist lists. Such a device is opened with the profile that has one of these protocols, if there is only
  /// one: `COM.LEGO.MINDSTORMS.EV3`.
  public var pickedProtocolStrings: [String] {
    get { registry.state.withLock { $0.pickedProtocols } }
    set { registry.state.withLock { $0.pickedProtocols = newValue } }
  }

  /// The protocols that the program's Info.plist lists; nil where there is no list.
  static let listedProtocols =
    Bundle.main.object(forInfoDictionaryKey: "UISupportedExternalAccessoryProtocols") as? [String]

  /// Adds a profile before all others; it replaces one of the same name. Devices that become accessories by it are
  /// connected now. Connected accessories stay as they are.
  public func register(profile: Profile) { registry.register(profile) }

  /// Errors of discovery and of profiles that couldn't be read, since this module writes no log.
  public var discoveryErrors: [AccessoryError] { registry.errors }
}

/// A wait for an accessory that may be cancelled before it has begun.
private final class Picking: Sendable {
  private let registry: AccessoryRegistry
  private let state = Locked<(id: Int?, isCancelled: Bool)>((nil, false))

  init(_ registry: AccessoryRegistry) { self.registry = registry }

  func begin(_ id: Int) {
    let isCancelled = state.withLock { state in
      state.id = id
      return state.isCancelled
    }
    if isCancelled { registry.endPicking(id, .resultCancelled) }
  }

  func cancel() {
    let id = state.withLock { state in
      state.isCancelled = true
      return state.id
    }
    if let id { registry.endPicking(id, .resultCancelled) }
  }
}
