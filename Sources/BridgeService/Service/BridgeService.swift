// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import Logging

/// The service: holds accessories as they are plugged in, and answers calls about them.
///
/// All decisions are made on one dispatch queue. Nothing on it blocks, and no accessory's bytes pass through it.
package actor BridgeService {
  nonisolated let executor = DispatchExecutor(label: "accessory.service")
  nonisolated let io: IOThread
  nonisolated let clock: any TimerClock
  nonisolated let configuration: ServiceConfiguration
  nonisolated let hooks: ServiceHooks
  let log: Logger
  var profiles: ProfileStore
  nonisolated let drivers: DriverLibrary
  /// What is held, in the order of arrival.
  var attachments: [Int: Attachment] = [:]
  var nextKey = 0
  var events = EventHub()
  /// What the sources tell of, by source and path.
  private var present: [Device] = []
  /// What was let go by hand, until it is unplugged.
  var detached: [Device] = []
  /// What is to be held when it is told of.
  private var expectations = Expectations()
  private var watching: [Task<Void, Never>] = []
  private(set) var sources: [any DeviceSource] = []
  private(set) var clientCount = 0
  /// When it was started: on the clock that goes on while the machine sleeps, and in seconds since 1970.
  nonisolated let started: (clock: MonotonicTime, wallClock: Double)
  private var idleTimer: TimerToken?
  private var scanTimer: TimerToken?
  private var lastStatus = ""
  private var statusIsDue = false
  var isClosing = false
  /// Files that clients are bringing, by the names of their transfers.
  var supplies: [String: SuppliedFile] = [:]
  /// Lines on which units are searched for, by their addresses.
  var searches: [DeviceAddress: UnitSearch] = [:]
  /// Finishes when the service was idle for as long as `exitIdle` says.
  package nonisolated let idle: AsyncStream<Void>
  private let idleContinuation: AsyncStream<Void>.Continuation

  /// The most devices that are known at a time.
  static let deviceLimit = ReplyLimits.devices

  /// The service's dispatch queue.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// A service that goes by `profiles`, whose drivers are in `drivers`.
  package init(
    _ configuration: ServiceConfiguration, profiles: ProfileStore, drivers: DriverLibrary = .builtIn, log: Logger,
    hooks: ServiceHooks = ServiceHooks(), io: IOThread = .shared, clock: (any TimerClock)? = nil
  ) {
    self.drivers = drivers
    self.configuration = configuration
    self.profiles = profiles
    self.log = log
    self.hooks = hooks
    self.io = io
    self.clock = clock ?? io
    started = (self.clock.bootTime, Self.wallClock)
    (idle, idleContinuation) = AsyncStream<Void>.makeStream()
  }

  nonisolated func post(_ body: @escaping @Sendable (isolated BridgeService) -> Void) {
    executor.post { self.assumeIsolated(body) }
  }

  /// Returns when the service's queue has run a job: proof of life for a watchdog.
  package func proveLife() async {}

  // MARK: - Devices

  /// Attaches the devices of these sources, from now on. A source that can't be watched is logged and left out.
  package func watch(_ sources: [any DeviceSource]) async {
    self.sources = sources
    for source in sources {
      do throws(AccessoryError) {
        let events = try await source.events()
        watching.append(
          Task {
            for await event in events { self.take(event) }
            self.lost(source)
          })
      } catch {
        log.warning("looking for accessories: \(error.message)")
      }
    }
    if let timeout = configuration.scanTimeout {
      scanTimer = clock.schedule(at: clock.now + timeout) { [weak self] in self?.post { $0.scanned() } }
    }
    log.info("looking for accessories")
    checkIdle()
  }

  private func lost(_ source: any DeviceSource) {
    if !isClosing { log.error("\(type(of: source)) tells no more of what comes and goes") }
  }

  private func scanned() {
    let count = attachments.values.count { $0.machine.state == .attached || $0.machine.state == .lent }
    log.notice(
      "the search is over: \(count == 0 ? "no accessory" : "\(count) attached"); what is plugged in from now on is attached all the same"
    )
  }

  /// Takes in what a source tells.
  func take(_ event: DeviceEvent) {
    guard !isClosing else { return }
    switch event {
    case .added(let device):
      guard present.count < Self.deviceLimit else { return log.warning("too many devices: one is passed over") }
      present.append(device)
      appeared(device)
    case .removed(let device):
      present.removeAll { $0 == device }
      detached.removeAll { $0.address == device.address && $0.line.id == device.id }
      disappeared(device)
    case .changed(let device, let old):
      if let index = present.firstIndex(of: old) { present[index] = device } else { present.append(device) }
      let held = held(on: old)
      let isSearched = searches.values.contains { $0.line == old }
      endSearch(old)
      for attachment in held { change(attachment, to: device.onLine(unit: attachment.device.unit)) }
      if held.isEmpty || isSearched { appeared(device) }
    }
    checkIdle()
  }

  /// A device is there, and with it all accessories that are on its line.
  private func appeared(_ line: Device) {
    for device in accessories(on: line, profiles.profile(for: line)) { appeared(accessory: device) }
  }

  /// The accessories on a line, as far as is known: those that the profile names, or a search has found.
  func accessories(on line: Device, _ profile: Profile?) -> [Device] {
    guard let profile else { return [line] }
    guard profile.units == .scan else { return profile.accessories(on: line) }
    return searched(line, profile, isByHand: false)
  }

  private func appeared(accessory device: Device) {
    if let attachment = attachment(awaiting: device) { return returned(attachment, as: device) }
    if let attachment = attachment(holding: device) { return recognized(attachment, as: device) }
    let profile = profiles.profile(for: device)
    guard device.mayBeAccessory || profile?.transport.preferredTransport != nil else { return }
    guard !detached.contains(where: { $0.address == device.address && $0.id == device.id }) else { return }
    let isExpected = expectations.take(device, now: clock.now)
    // Its attachment says what is wrong.
    let hasConflict = profile == nil && profiles.conflict(for: device, label: device.id) != nil
    guard attachments.count < Self.deviceLimit else {
      return log.warning("too many accessories: \(SafeText.escape(device.id)) is passed over")
    }
    if profile != nil || isExpected || hasConflict { attach(device, profile, isByHand: profile == nil && !hasConflict) }
  }

  /// A search has found an accessory on a line.
  func take(found device: Device) {
    appeared(accessory: device)
    checkIdle()
  }

  /// A device that was known by its path alone is told of now: from here on it is what its source says, and goes by the
  /// profile that claims it.
  private func recognized(_ attachment: Attachment, as device: Device) {
    guard attachment.device.source == .named, device.source != .named else { return }
    log.info("\(attachment.name) is \(SafeText.escape(device.id))")
    let profile = profile(of: attachment, as: device)
    if attachment.machine.state != .lent { return replace(attachment, by: device, profile) }
    // It is opened anew when it is given back.
    attachment.device = device
    attachment.profile = profile
    attachment.driver = drivers.driver(for: device, profile)
    attachment.protocolStrings = protocolStrings(attachment.driver, profile)
    noteWrites(of: attachment)
  }

  /// Replaces the attachment of a device whose profile or identity has changed.
  private func replace(_ attachment: Attachment, by device: Device, _ profile: Profile?) {
    release(attachment, admitting: false)
    attachment.successor = attach(
      device, profile, isByHand: attachment.isByHand, chosenProfile: attachment.chosenProfile,
      after: attachment.closing)
  }

  /// The profile that was chosen for it by hand, or that claims the device.
  private func profile(of attachment: Attachment, as device: Device) -> Profile? {
    attachment.chosenProfile.map { profiles.profile(named: $0) } ?? profiles.profile(for: device)
  }

  /// Holds a device as soon as a source tells of it, also where no profile claims it.
  package func expect(_ path: String) {
    if let attachment = ordered.first(where: { $0.machine.isPresent && $0.device.isAt(path) }) {
      guard attachment.machine.state == .failed, !attachment.machine.isRefused else { return }
      return perform(attachment.machine.plugged(now: clock.now), on: attachment)
    }
    expectations.add(path, now: clock.now)
    for device in present where device.isAt(path) { appeared(device) }
  }

  private func disappeared(_ device: Device) {
    endSearch(device)
    for attachment in held(on: device) {
      log.debug("\(attachment.name) was taken away from \(SafeText.escape(device.address.description))")
      let gone = AccessoryError.disconnected(attachment.target.place)
      perform(attachment.machine.unplugged(gone, now: clock.now), on: attachment)
    }
  }

  private func returned(_ attachment: Attachment, as device: Device) {
    attachment.device = device
    perform(attachment.machine.plugged(now: clock.now), on: attachment)
  }

  private func change(_ attachment: Attachment, to device: Device) {
    let address = attachment.target.address
    attachment.device = device
    guard attachment.target.address != address else { return }
    // The usual transport of the device has changed: its terminal came or went.
    log.info("\(attachment.name) is reached by \(SafeText.escape(attachment.target.address.description)) now")
    if attachment.machine.state == .attached {
      close(attachment)
      _ = attachment.machine.rest()
    }
    if attachment.machine.state != .lent { perform(attachment.machine.plugged(now: clock.now), on: attachment) }
  }

  /// The attachment of this very device.
  func attachment(holding device: Device) -> Attachment? {
    first { $0.machine.isPresent && $0.isSame(device) }
  }

  /// The attachment whose accessory went away and is this.
  private func attachment(awaiting device: Device) -> Attachment? {
    first { !$0.machine.isPresent && $0.device.id == device.id }
  }

  /// The attachments of what is on a line that is there, in the order of arrival.
  func held(on line: Device) -> [Attachment] {
    attachments.values.filter { $0.machine.isPresent && $0.device.line == line }.sorted { $0.key < $1.key }
  }

  /// The first of these in the order of arrival. There may be thousands: they aren't sorted for it.
  private func first(_ isMeant: (Attachment) -> Bool) -> Attachment? {
    attachments.values.lazy.filter(isMeant).min { $0.key < $1.key }
  }

  /// In the order of arrival.
  var ordered: [Attachment] { attachments.values.sorted { $0.key < $1.key } }

  /// Every device that can be attached.
  var knownDevices: [Device] { present }

  // MARK: - Profiles

  /// Applies these profiles from now on: attaches devices that fit, detaches those that no longer do, and reopens those
  /// with other settings. Lent ones stay as they are.
  package func use(_ profiles: ProfileStore) {
    guard !isClosing else { return }
    self.profiles = profiles
    for attachment in ordered where attachment.machine.state != .lent {
      let profile = profile(of: attachment, as: attachment.device)
      let isUnclaimed =
        profile == nil && !attachment.isByHand
        && profiles.conflict(for: attachment.device, label: attachment.name) == nil
      // One that is on the line no more, or one of several now.
      if let profile, !attachment.isByHand, !profile.hasAccessory(attachment.device.unit) {
        log.notice("\(attachment.name): its profile names other units")
        release(attachment)
        continue
      }
      guard profile != attachment.profile || isUnclaimed else { continue }
      if profile == nil && !attachment.isByHand {
        log.notice("\(attachment.name): no profile fits any more")
        release(attachment)
      } else {
        log.notice("\(attachment.name): its profile has changed")
        replace(attachment, by: attachment.device, profile)
      }
    }
    for device in present { appeared(device) }
    checkIdle()
  }

  // MARK: - Nothing to do

  /// There are so many clients now.
  package nonisolated func noteClients(_ count: Int) {
    post { service in
      service.clientCount = count
      service.checkIdle()
    }
  }

  /// Starts or stops the timer of idleness.
  func checkIdle() {
    // Done once for a series of changes, because it counts all accessories.
    if !statusIsDue {
      statusIsDue = true
      post { service in
        service.statusIsDue = false
        service.tellStatus()
      }
    }
    guard let exitIdle = configuration.exitIdle else { return }
    if !isIdle || isClosing {
      if let idleTimer { clock.cancel(idleTimer) }
      idleTimer = nil
    } else if idleTimer == nil {
      idleTimer = clock.schedule(at: clock.now + exitIdle) { [weak self] in self?.post { $0.endWhenIdle() } }
    }
  }

  private var isIdle: Bool { clientCount == 0 && attachments.values.allSatisfy { $0.machine.state == .failed } }

  /// Whether there is something to do, be it that the sources have not told of it yet: asked before leaving.
  package func hasWork() async -> Bool {
    for source in sources {
      let devices = (try? await source.devices()) ?? []
      if devices.contains(where: isNews) { return true }
    }
    return !isIdle
  }

  private func isNews(_ device: Device) -> Bool {
    profiles.profile(for: device) != nil && !present.contains { $0.address == device.address && $0.id == device.id }
  }

  private func endWhenIdle() {
    guard idleTimer != nil, !isClosing else { return }
    log.notice("nothing attached and no client for \(Self.text(configuration.exitIdle ?? .zero)): ending")
    idleContinuation.finish()
  }

  private func tellStatus() {
    let states = attachments.values.map(\.machine.state)
    let parts = Bridge.AttachmentState.allCases.compactMap { state in
      let count = states.count { $0 == state }
      return count == 0 ? nil : "\(count) \(state.rawValue)"
    }
    let status = parts.isEmpty ? "no accessory" : parts.joined(separator: ", ")
    guard status != lastStatus else { return }
    lastStatus = status
    hooks.onStatus(status)
  }

  // MARK: - The end

  /// Detaches everything. Returns when all devices are closed.
  package func close() async {
    if !isClosing {
      isClosing = true
      for task in watching { task.cancel() }
      for token in [idleTimer, scanTimer].compactMap({ $0 }) { clock.cancel(token) }
      endSearches()
      for attachment in ordered { release(attachment) }
      events.end()
      idleContinuation.finish()
    }
    while let task = closings.first?.value {
      await task.value
    }
  }

  /// What is being opened or closed.
  var closings: [Int: Task<Void, Never>] = [:]

  static func text(_ duration: Duration) -> String {
    let milliseconds = duration.inNanoseconds / 1_000_000
    return milliseconds.isMultiple(of: 1_000) ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
  }
}
