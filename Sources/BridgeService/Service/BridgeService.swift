// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import Logging

/// The service: attaches accessories when they are plugged in, and answers calls.
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
  /// The attachments by key. Keys increase in the order of arrival.
  var attachments: [Int: Attachment] = [:]
  var nextKey = 0
  var events = EventHub()
  /// The devices that the sources report.
  private var present: [Device] = []
  /// The devices that a client has detached. An entry is removed when the device is unplugged.
  var detached: [Device] = []
  /// The paths of devices that are attached as soon as a source reports them.
  private var expectations = Expectations()
  private var watching: [Task<Void, Never>] = []
  private(set) var sources: [any DeviceSource] = []
  private(set) var clientCount = 0
  /// The start of the service: on the clock that also counts the machine's sleep, and in seconds since 1970, UTC.
  nonisolated let started: (clock: MonotonicTime, wallClock: Double)
  private var idleTimer: TimerToken?
  private var scanTimer: TimerToken?
  private var lastStatus = ""
  private var statusIsDue = false
  var isClosing = false
  /// What clients that may only read may perform, and how often they have.
  var commandRules: CommandRules
  var commandRates = CommandRates()
  /// The rules of alarms from the configuration and the command line.
  var alarmRules: AlarmRules
  /// The alarms of all accessories.
  var alarms = AlarmBook(limit: BridgeService.deviceLimit)
  /// The timer for delays of alarms and for silence.
  var alarmTimer: (deadline: MonotonicTime, token: TimerToken)?
  /// Files that clients supply, by the names of the transfers.
  var supplies: [String: SuppliedFile] = [:]
  /// Searches for units, by the address of the line.
  var searches: [DeviceAddress: UnitSearch] = [:]
  /// The endpoints at which accessories are shared, by the names of their profiles.
  var endpoints: [String: ProfileEndpoints] = [:]
  var endpointWork: Task<Void, Never>?
  /// What was read of the accessories, over time.
  var history: HistoryKeeper
  /// Where it is kept, and the queue on which it is written; nil: in memory only.
  var historyFile: (file: any HistoryFile, queue: SetupQueue)?
  var historyTimer: TimerToken?
  /// The write that is on its way.
  var historyWork: Task<Void, Never>?
  /// Whether the last write has failed, which the log says once.
  var isHistoryFailing = false
  /// Finishes when the service was idle for `exitIdle`.
  package nonisolated let idle: AsyncStream<Void>
  private let idleContinuation: AsyncStream<Void>.Continuation

  /// The greatest number of devices that are known at the same time.
  static let deviceLimit = ReplyLimits.devices

  /// The service's dispatch queue, which runs this actor.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// A service that applies `profiles`, with the drivers in `drivers`.
  package init(
    _ configuration: ServiceConfiguration, profiles: ProfileStore, drivers: DriverLibrary = .builtIn, log: Logger,
    hooks: ServiceHooks = ServiceHooks(), io: IOThread = .shared, clock: (any TimerClock)? = nil
  ) {
    self.drivers = drivers
    self.configuration = configuration
    commandRules = configuration.commandRules
    alarmRules = configuration.alarmRules
    self.profiles = profiles
    self.log = log
    self.hooks = hooks
    self.io = io
    self.clock = clock ?? io
    started = (self.clock.bootTime, configuration.wallClock())
    history = HistoryKeeper(uptime: self.clock.bootTime, wall: started.wallClock, boot: configuration.boot)
    (idle, idleContinuation) = AsyncStream<Void>.makeStream()
  }

  nonisolated func post(_ body: @escaping @Sendable (isolated BridgeService) -> Void) {
    executor.post { self.assumeIsolated(body) }
  }

  /// Returns when the service's queue has run a job, which proves to a watchdog that the queue works.
  package func proveLife() async {}

  // MARK: - Devices

  /// Attaches the devices of these sources, now and later. A source that can't be watched is logged and skipped.
  package func watch(_ sources: [any DeviceSource]) async {
    self.sources = sources
    if let file = configuration.historyFile, historyFile == nil { await keepHistory(in: file) }
    renewEndpoints()
    for source in sources {
      do throws(AccessoryError) {
        let events = try await source.events()
        watching.append(
          Task {
            for await event in events { self.take(event) }
            self.lost(source)
          })
      } catch {
        log.warning("a source of devices can't be used: \(error.message)")
      }
    }
    if let timeout = configuration.scanTimeout {
      scanTimer = clock.schedule(at: clock.now + timeout) { [weak self] in self?.post { $0.scanned() } }
    }
    log.info("looking for accessories")
    checkIdle()
  }

  private func lost(_ source: any DeviceSource) {
    if !isClosing {
      log.error("\(type(of: source)) has ended: devices that are plugged in or removed are no longer noticed")
    }
  }

  private func scanned() {
    let count = attachments.values.count { $0.machine.state == .attached || $0.machine.state == .lent }
    log.notice(
      "the search has ended: \(count == 0 ? "no accessory" : "\(count) attached"); accessories that are plugged in later are still attached"
    )
  }

  /// Handles an event of a source.
  func take(_ event: DeviceEvent) {
    guard !isClosing else { return }
    switch event {
    case .added(let device):
      guard present.count < Self.deviceLimit else { return log.warning("too many devices: one is ignored") }
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

  /// A device has appeared, with all accessories on its line.
  private func appeared(_ line: Device) {
    for device in accessories(on: line, profiles.profile(for: line)) { appeared(accessory: device) }
  }

  /// The accessories on a line: those that the profile lists, or that a search has found so far.
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
    // A conflict of profiles becomes an attachment whose problem names the profiles.
    let hasConflict = profile == nil && profiles.conflict(for: device, label: device.id) != nil
    guard attachments.count < Self.deviceLimit else {
      return log.warning("too many accessories: \(SafeText.escape(device.id)) is ignored")
    }
    if profile != nil || isExpected || hasConflict { attach(device, profile, isByHand: profile == nil && !hasConflict) }
  }

  /// A search has found an accessory on a line.
  func take(found device: Device) {
    appeared(accessory: device)
    checkIdle()
  }

  /// A source now reports a device that was known only by its path. The attachment takes the source's device, and the
  /// profile that claims it.
  private func recognized(_ attachment: Attachment, as device: Device) {
    guard attachment.device.source == .named, device.source != .named else { return }
    log.info("\(attachment.name) is \(SafeText.escape(device.id))")
    let profile = profile(of: attachment, as: device)
    if attachment.machine.state != .lent { return replace(attachment, by: device, profile) }
    // The device is opened again when the borrower returns it.
    attachment.device = device
    attachment.profile = profile
    attachment.driver = drivers.driver(for: device, profile)
    attachment.protocolStrings = protocolStrings(attachment.driver, profile)
    noteWrites(of: attachment)
  }

  /// Replaces an attachment whose device's profile or identity has changed.
  private func replace(_ attachment: Attachment, by device: Device, _ profile: Profile?) {
    release(attachment, admitting: false)
    let successor = attach(
      device, profile, isByHand: attachment.isByHand, chosenProfile: attachment.chosenProfile,
      after: attachment.closing)
    attachment.successor = successor
    if successor.alarmKey != attachment.alarmKey { dropAlarms(of: attachment, isAway: false) }
  }

  /// The profile that a client chose, or the one that claims the device.
  private func profile(of attachment: Attachment, as device: Device) -> Profile? {
    attachment.chosenProfile.map { profiles.profile(named: $0) } ?? profiles.profile(for: device)
  }

  /// Attaches a device as soon as a source reports it, even if no profile claims it.
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
      log.debug("\(attachment.name) was removed from \(SafeText.escape(device.address.description))")
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
    // The device's default transport has changed: its terminal has appeared or disappeared.
    log.info("\(attachment.name) is now at \(SafeText.escape(attachment.target.address.description))")
    if attachment.machine.state == .attached {
      close(attachment)
      _ = attachment.machine.rest()
    }
    if attachment.machine.state != .lent { perform(attachment.machine.plugged(now: clock.now), on: attachment) }
  }

  /// The attachment of this device, where the device is present.
  func attachment(holding device: Device) -> Attachment? {
    first { $0.machine.isPresent && $0.isSame(device) }
  }

  /// The attachment of an unplugged accessory with the identity of `device`.
  private func attachment(awaiting device: Device) -> Attachment? {
    first { !$0.machine.isPresent && $0.device.id == device.id }
  }

  /// The attachments of present accessories on a line, in the order of arrival.
  func held(on line: Device) -> [Attachment] {
    attachments.values.filter { $0.machine.isPresent && $0.device.line == line }.sorted { $0.key < $1.key }
  }

  /// The first match in the order of arrival. Attachments aren't sorted for that, since there may be thousands.
  private func first(_ isMeant: (Attachment) -> Bool) -> Attachment? {
    attachments.values.lazy.filter(isMeant).min { $0.key < $1.key }
  }

  /// The attachments in the order of arrival.
  var ordered: [Attachment] { attachments.values.sorted { $0.key < $1.key } }

  /// The devices that can be attached.
  var knownDevices: [Device] { present }

  // MARK: - Profiles

  /// Applies other profiles: attaches devices that match, detaches those that no longer match, and reopens those with
  /// changed settings. Lent accessories stay as they are.
  package func use(_ profiles: ProfileStore) {
    guard !isClosing else { return }
    self.profiles = profiles
    for attachment in ordered where attachment.machine.state != .lent {
      let profile = profile(of: attachment, as: attachment.device)
      let isUnclaimed =
        profile == nil && !attachment.isByHand
        && profiles.conflict(for: attachment.device, label: attachment.name) == nil
      // The profile no longer lists this unit, or it now lists several where there was one.
      if let profile, !attachment.isByHand, !profile.hasAccessory(attachment.device.unit) {
        log.notice("\(attachment.name): its profile now names other units")
        release(attachment)
        continue
      }
      guard profile != attachment.profile || isUnclaimed else { continue }
      if profile == nil && !attachment.isByHand {
        log.notice("\(attachment.name): no profile matches it any longer")
        release(attachment)
      } else {
        log.notice("\(attachment.name): its profile has changed")
        replace(attachment, by: attachment.device, profile)
      }
    }
    for device in present { appeared(device) }
    renewEndpoints()
    checkIdle()
  }

  // MARK: - Idleness

  /// Sets the number of clients.
  package nonisolated func noteClients(_ count: Int) {
    post { service in
      service.clientCount = count
      service.checkIdle()
    }
  }

  /// Starts or stops the idle timer.
  func checkIdle() {
    // Done once for a series of changes, since it counts all accessories.
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

  private var isIdle: Bool {
    clientCount == 0 && !alarms.awaitsSilence && attachments.values.allSatisfy { $0.machine.state == .failed }
      && endpoints.values.allSatisfy { $0.listeners == 0 }
  }

  /// Whether the service has work, including devices that the sources haven't reported yet; asked before the service
  /// ends.
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
      for token in [idleTimer, scanTimer, alarmTimer?.token].compactMap({ $0 }) { clock.cancel(token) }
      endSearches()
      for attachment in ordered { release(attachment) }
      renewEndpoints()
      events.end()
      idleContinuation.finish()
    }
    await endpointWork?.value
    while let task = closings.first?.value {
      await task.value
    }
    await finishHistory()
  }

  /// The tasks that open or close devices.
  var closings: [Int: Task<Void, Never>] = [:]

  static func text(_ duration: Duration) -> String {
    let milliseconds = duration.inNanoseconds / 1_000_000
    return milliseconds.isMultiple(of: 1_000) ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
  }
}
