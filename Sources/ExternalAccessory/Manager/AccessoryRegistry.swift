// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import Foundation

/// The connected accessories, and their notifications.
///
/// Changes are handled on this module's queue; notifications are posted on the main thread.
final class AccessoryRegistry: RunLoopWork {
  struct State: Sendable {
    var profiles: ProfileStore
    /// The devices that discovery reports, with or without a profile.
    var devices: [Device] = []
    /// The accessories that services report, with profiles that have their protocols, and those that were picked.
    var reported: [(device: Device, profile: Profile)] = []
    var accessories: [EAAccessory] = []
    var lastConnectionID = EAConnectionIDNone
    var isRegistered = false
    var news: [ManagerEvent] = []
    var pickers: [PickerRequest] = []
    var lastPickerID = 0
    var chooser: EABluetoothAccessoryChooser?
    /// The protocols of Bluetooth devices that may be picked where no profile's rules match them.
    var pickedProtocols: [String] = []
    var errors: [AccessoryError] = []
    weak var manager: EAAccessoryManager?
  }

  let state: Locked<State>
  private let tasks = Locked<[Task<Void, Never>]>([])
  private let main = RunLoopSource()
  let scanTimeout: Duration
  /// Searches by Bluetooth for the picker; nil if nothing does.
  let bluetooth: BluetoothPicker?
  /// The tasks of pickers, by their numbers.
  let searches = Locked<[Int: Task<Void, Never>]>([:])
  private let services: [String]
  private let drivers: DriverLibrary

  /// The limit of pending notifications. Beyond it, a connection whose accessory is gone again is dropped together with
  /// its disconnection.
  static let newsLimit = 256

  /// How long a disconnection waits until the streams' delegates have received the end events.
  private static let endPatience = Duration.milliseconds(500)

  init(
    profiles: ProfileStore, drivers: DriverLibrary, scanTimeout: Duration, services: [String],
    bluetooth: BluetoothPicker? = nil
  ) {
    (self.drivers, self.bluetooth) = (drivers, bluetooth)
    state = Locked(State(profiles: profiles, pickedProtocols: EAAccessoryManager.listedProtocols ?? []))
    self.services = services
    self.scanTimeout = scanTimeout
    main.run(self)
    main.schedule(in: .main, forMode: .common)
  }

  deinit {
    main.invalidate()
    for task in tasks.withLock({ $0 }) + searches.withLock({ $0 }).values { task.cancel() }
  }

  /// Sets the manager that posts notifications. A weak reference.
  func serve(_ manager: EAAccessoryManager) { state.withLock { $0.manager = manager } }

  // MARK: - Devices

  /// Follows `source`. Calls `ready` once, when the present devices were reported, or when the source has failed.
  func follow(_ source: any DeviceSource, ready: @escaping @Sendable () -> Void) {
    let task = Task.detached(executorPreference: TaskQueue.shared) { [weak self] in
      let events: AsyncStream<DeviceEvent>
      var expected: Set<DeviceAddress>
      do throws(AccessoryError) {
        // Subscribed before listing, so each listed device is also an event, unless udev's rules are still to be
        // applied to it.
        events = try await source.events()
        expected = Set(try await source.devices().lazy.filter(\.isInitialized).map(\.address))
      } catch {
        self?.note(error)
        return ready()
      }
      var isReady = false
      if expected.isEmpty { (isReady, _) = (true, ready()) }
      for await event in events {
        guard let self else { return }
        for event in event.onUnits(state.withLock { $0.profiles }) {
          switch event {
          case .added(let device): appeared(device)
          case .changed(let device, let old): changed(device, from: old)
          case .removed(let device): vanished(device)
          }
        }
        guard !isReady else { continue }
        switch event {
        case .added(let device), .changed(let device, _), .removed(let device): expected.remove(device.address)
        }
        if expected.isEmpty { (isReady, _) = (true, ready()) }
      }
      if !isReady { ready() }
    }
    tasks.withLock { $0.append(task) }
  }

  /// Stores an error for `discoveryErrors`.
  func note(_ error: AccessoryError) { state.withLock { $0.errors.append(error) } }

  /// The same, for an error that may be repeated.
  func noteOnce(_ error: AccessoryError) {
    state.withLock { if !$0.errors.contains(error) { $0.errors.append(error) } }
  }

  private func appeared(_ device: Device) {
    let hasNews = state.withLock { state in
      state.devices.append(device)
      // A service has reported the device before.
      if let accessory = state.accessories.first(where: { $0.port.device.isSame(as: device) }) {
        accessory.port.changed(device, Self.profile(for: device, state) ?? accessory.port.profile)
        return false
      }
      if let conflict = state.profiles.conflict(for: device, label: device.id), !state.errors.contains(conflict) {
        state.errors.append(conflict)
      }
      return connect(device, &state)
    }
    if hasNews { main.signal() }
  }

  /// The profile with which a device can be opened: its own, or one with the protocols that its service reports.
  private static func profile(for device: Device, _ state: State) -> Profile? {
    if let own = state.profiles.profile(for: device), !own.protocolStrings.isEmpty { return own }
    return state.reported.first { $0.device.isSame(as: device) }?.profile
  }

  /// Adds an accessory for the device. True when there is a notification to post.
  private func connect(_ device: Device, _ state: inout State) -> Bool {
    guard let profile = Self.profile(for: device, state) else { return false }
    state.lastConnectionID += 1
    let accessory = EAAccessory(
      device, profile: profile, connectionID: state.lastConnectionID, services: services, drivers: drivers)
    accessory.port.onLost { [weak self, weak accessory] in if let accessory { self?.lost(accessory) } }
    state.accessories.append(accessory)
    guard state.isRegistered || !state.pickers.isEmpty else { return false }
    state.news.append(.connected(accessory, notifies: state.isRegistered))
    return true
  }

  private func vanished(_ device: Device) {
    let accessory = state.withLock { state -> EAAccessory? in
      if let index = state.devices.firstIndex(of: device) { state.devices.remove(at: index) }
      guard let index = state.accessories.firstIndex(where: { $0.port.device == device }) else { return nil }
      return state.accessories.remove(at: index)
    }
    if let accessory { disconnect(accessory) }
  }

  /// A device's properties have changed. While the profile is the same, the accessory object stays the same.
  private func changed(_ device: Device, from old: Device) {
    let (former, hasNews) = state.withLock { state -> (EAAccessory?, Bool) in
      if let index = state.devices.firstIndex(of: old) { state.devices.remove(at: index) }
      state.devices.append(device)
      let index = state.accessories.firstIndex { $0.port.device == old }
      if let index, Self.profile(for: device, state) == state.accessories[index].port.profile {
        state.accessories[index].port.changed(device)
        return (nil, false)
      }
      return (index.map { state.accessories.remove(at: $0) }, connect(device, &state))
    }
    if hasNews { main.signal() }
    if let former { disconnect(former) }
  }

  /// Called when a session notices the unplug before discovery does. Discovery's event then finds nothing left to do.
  private func lost(_ accessory: EAAccessory) {
    state.withLock { state in
      state.accessories.removeAll { $0 === accessory }
      if let index = state.devices.firstIndex(of: accessory.port.device) { state.devices.remove(at: index) }
      state.reported.removeAll { $0.device.isSame(as: accessory.port.device) }
    }
    disconnect(accessory)
  }

  // MARK: - Services

  /// Follows the service at `place`. Calls `ready` once, when its accessories were reported, or when there is no
  /// service.
  func follow(service place: String, ready: @escaping @Sendable () -> Void) {
    let tell: @Sendable (ServiceAccessories.Event) -> Void = { [weak self] event in
      switch event {
      case .came(let device, let profile): self?.came(device, profile)
      case .went(let device): self?.went(device)
      case .tooMany(let error): self?.note(error)
      }
    }
    let task = Task.detached(executorPreference: TaskQueue.shared) {
      await ServiceAccessories.follow(place, ready: ready, tell)
    }
    tasks.withLock { $0.append(task) }
  }

  /// A device is there that can be opened with this profile: a service reports it, or it was picked.
  func came(_ device: Device, _ profile: Profile) {
    let hasNews = state.withLock { state in
      state.reported.append((device, profile))
      guard !state.accessories.contains(where: { $0.port.device.isSame(as: device) }) else { return false }
      return connect(state.devices.first { $0.isSame(as: device) } ?? device, &state)
    }
    if hasNews { main.signal() }
  }

  /// A service no longer reports an accessory. It stays if discovery reports it, too, and it has a profile.
  private func went(_ device: Device) {
    let accessory = state.withLock { state -> EAAccessory? in
      guard let reported = state.reported.firstIndex(where: { $0.device == device }) else { return nil }
      state.reported.remove(at: reported)
      guard let index = state.accessories.firstIndex(where: { $0.port.device.isSame(as: device) }) else { return nil }
      let own = state.devices.first { $0.isSame(as: device) }
      guard own.flatMap({ Self.profile(for: $0, state) }) == nil else { return nil }
      return state.accessories.remove(at: index)
    }
    if let accessory { disconnect(accessory) }
  }

  private func disconnect(_ accessory: EAAccessory) {
    accessory.port.disconnect(limit: Self.endPatience) { [weak self] in self?.disconnected(accessory) }
  }

  private func disconnected(_ accessory: EAAccessory) {
    let delegate = accessory.delegate  // released outside the lock, since this may be the last reference
    let hasNews = state.withLock { state in
      let waiting = state.news.firstIndex { news in
        if case .connected(let other, _) = news { other === accessory } else { false }
      }
      var notifies = state.isRegistered
      if let waiting, !state.news[waiting].notifies || state.news.count > Self.newsLimit {
        state.news.remove(at: waiting)
        notifies = false  // without the connection, the disconnection isn't posted either
      }
      guard notifies || delegate != nil else { return false }
      state.news.append(.disconnected(accessory, notifies: notifies))
      return true
    }
    if hasNews { main.signal() }
  }

  // MARK: - The manager's interface

  var accessories: [EAAccessory] { state.withLock { $0.accessories } }

  var errors: [AccessoryError] { state.withLock { $0.errors } }

  func setRegistered(_ isRegistered: Bool) { state.withLock { $0.isRegistered = isRegistered } }

  func register(_ profile: Profile) {
    let hasNews = state.withLock { state in
      state.profiles.register(profile)
      let known = Set(state.accessories.map(\.port.device))
      state.devices = state.devices.flatMap { known.contains($0) ? [$0] : state.profiles.accessories(on: $0) }
      return state.devices.filter { !known.contains($0) }.map { connect($0, &state) }.contains(true)
    }
    if hasNews { main.signal() }
  }

  /// Has an event handled on the main thread.
  func post(_ event: ManagerEvent) {
    state.withLock { $0.news.append(event) }
    main.signal()
  }

  /// Opens a device that was picked.
  func opener(_ device: Device, _ profile: Profile) -> DeviceOpener {
    DeviceOpener(device, profile: profile, isChosen: true, drivers: drivers)
  }
}
