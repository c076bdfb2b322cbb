// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import Dispatch
import Foundation

/// Knows the accessories that are connected.
public final class EAAccessoryManager: NSObject, Sendable {
  private let registry: AccessoryRegistry

  private static let instance = EAAccessoryManager(ProfileLibrary.load())

  /// The devices of the shared manager: simulators and the system's devices, with the profiles of this machine and
  /// user.
  private convenience init(_ library: ProfileLibrary) {
    var drivers = DriverLibrary.builtIn
    drivers.protocols = library.protocols
    self.init(
      sources: [SimulatorSource(), UdevSource()], profiles: library.store, drivers: drivers,
      services: ServicePlace.all())
    for problem in library.problems { registry.note(AccessoryError(.misconfigured, problem.description)) }
  }

  /// Longer than listing the devices usually takes. Devices that are found later are reported as connections.
  private static let patience = Duration.seconds(5)

  /// The one manager of this program. The first call looks for accessories, and waits a few milliseconds for that.
  public class func shared() -> EAAccessoryManager { instance }

  /// A manager beside the shared one, of what `sources` tell, such as a device that the user named. Waits until they
  /// have told what is there. The drivers that profiles name are those of `drivers`. The picker waits `scanTimeout`. Only
  /// on Linux.
  public convenience init(
    sources: [any DeviceSource], profiles: ProfileStore = .builtIn, drivers: DriverLibrary = .builtIn,
    scanTimeout: Duration = .seconds(30)
  ) {
    self.init(sources: sources, profiles: profiles, drivers: drivers, scanTimeout: scanTimeout, services: nil)
  }

  /// As above, and of what services hold that answer at these paths of sockets; with nil, what they hold is opened
  /// through those that run, but only sources tell of accessories.
  package init(
    sources: [any DeviceSource], profiles: ProfileStore = .builtIn, drivers: DriverLibrary = .builtIn,
    scanTimeout: Duration = .seconds(30), services: [String]?
  ) {
    registry = AccessoryRegistry(
      profiles: profiles, drivers: drivers, scanTimeout: scanTimeout, services: services ?? ServicePlace.all())
    super.init()
    registry.serve(self)
    let ready = DispatchSemaphore(value: 0)
    for source in sources { registry.follow(source) { ready.signal() } }
    for service in services ?? [] { registry.follow(service: service) { ready.signal() } }
    let end = DispatchTime.now() + .milliseconds(Int(Self.patience / .milliseconds(1)))
    for _ in 0..<(sources.count + (services ?? []).count) { _ = ready.wait(timeout: end) }
  }

  /// The accessories that are connected and have a profile with protocols. They can be opened.
  public var connectedAccessories: [EAAccessory] { registry.accessories }

  /// Starts to post notifications of connections and disconnections on the main thread. A second call has no effect.
  public func registerForLocalNotifications() { registry.setRegistered(true) }

  /// Ends that.
  public func unregisterForLocalNotifications() { registry.setRegistered(false) }

  // MARK: - The picker

  /// Waits for the next accessory that is connected and whose name fits `predicate`, of any kind and not only over
  /// Bluetooth: there is no sheet to choose from.
  ///
  /// Calls `completion` on the main thread: with nil when one came; with `EABluetoothAccessoryPickerError` after 30 s,
  /// `alreadyConnected` when one that fits has been there all the time, otherwise `resultNotFound`.
  public func showBluetoothAccessoryPicker(
    withNameFilter predicate: NSPredicate?, completion: EABluetoothAccessoryPickerCompletion? = nil
  ) {
    _ = registry.pick(predicate, completion: completion)
  }

  /// Waits for the next accessory that is connected and whose name fits `predicate`.
  ///
  /// Throws `EABluetoothAccessoryPickerError`: as the form with a completion, and `resultCancelled` when the task is
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

  /// Adds a profile before all others, in place of one of the same name. Devices that it makes accessories of are
  /// connected then; those that are connected already stay as they are.
  public func register(profile: Profile) { registry.register(profile) }

  /// Errors of discovery, and of profiles that couldn't be read, as there is no log to find them in.
  public var discoveryErrors: [AccessoryError] { registry.errors }
}

/// A wait for an accessory that may be given up before it has begun.
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
