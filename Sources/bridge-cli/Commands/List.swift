// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import ArgumentParser
import CommandOutput

struct List: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists the accessories that are connected, and those that are gone.",
    discussion: """
      EXAMPLES
        bridge-cli list
        bridge-cli list --wait 5
        bridge-cli list --json | jq -r '.devices[].path'
      """)

  @Flag(help: "Show everything on USB except hubs.")
  var all = false
  @Flag(
    help: "Search units on lines whose profile says units: scan.")
  var scan = false
  @Option(help: .value("time", "If there is none, wait this long for the first one."), transform: SecondsArgument.read)
  var wait: SecondsArgument?
  @OptionGroup var output: OutputOptions

  func run() async throws {
    var devices = await KnownDevices.accessories(
      on: try await KnownDevices.source().devices().filter { all || $0.mayBeAccessory })
    if devices.isEmpty, let wait {
      devices = try await first(within: wait.duration)
      if devices.isEmpty { Output.note("No accessory was plugged in within \(wait.text).") }
    }
    let (held, gone) = await held(&devices)
    if scan { devices = await searched(devices) }
    let accesses = await PortAccess.look(at: devices)
    if output.json {
      return Output.json(
        DeviceListDocument(
          zip(devices, accesses).map { DeviceDocument($0, access: $1, held: held[$0.place]) },
          absent: gone.map { DeviceDocument($0.device, held: $0) }))
    }
    defer { GoneTable.lines(gone, columns: Output.columns).forEach(Output.line) }
    guard !devices.isEmpty else {
      if !gone.isEmpty { return Output.note("No accessory is connected.") }
      return wait != nil ? () : Output.note("No accessory found. To simulate one: bridge-cli simulate framed")
    }
    let hasAreas = devices.contains { $0.given?.area != nil }
    let hasAlarms = held.values.contains { $0.alarms?.isEmpty == false }
    let hasAges = held.values.contains { $0.readings_age_ms != nil || $0.isSilent }
    var table = Table(
      ["SERIAL", "NAME", "MODEL", "DRIVER", "USB", "WAYS", "ACCESS", "PATH", "SOURCE"]
        + (held.isEmpty ? [] : ["STATE", "PROFILE"]) + (hasAges ? ["READ"] : []) + (hasAlarms ? ["ALARM"] : [])
        + (hasAreas ? ["AREA"] : []),
      optional: [8, 5, 2] + (held.isEmpty ? [] : [10]) + [4, 1, 3] + (hasAges ? [11] : [])
        + (held.isEmpty ? [] : [6]))
    for (device, access) in zip(devices, accesses) {
      table.add(
        [
          Table.cell(device.hasTwin ? device.id : device.serialNumber.map { $0 + device.unitSuffix }),
          Table.cell(device.given?.name ?? device.name),
          Table.cell(device.model),
          Table.cell(device.driver),
          device.usb?.product ?? "-", Table.cell(device.transports.map(\.rawValue).joined(separator: ",")),
          word(access),
          SafeText.escape(device.place), device.source.rawValue,
        ] + (held.isEmpty ? [] : state(held[device.place])) + (hasAges ? [age(held[device.place])] : [])
          + (hasAlarms ? [AlarmView.cell(held[device.place]?.alarms ?? [])] : [])
          + (hasAreas ? [Table.cell(device.given?.area)] : []))
    }
    table.lines(columns: Output.columns).forEach(Output.line)
  }

  /// The devices that are there when the first one has come; empty when none comes within `limit`.
  private func first(within limit: Duration) async throws -> [Device] {
    let source = try KnownDevices.source()
    let all = all
    let search = Task {
      for await event in try await source.events() {
        switch event {
        case .added(let device), .changed(let device, _): if all || device.mayBeAccessory { return }
        case .removed: break
        }
      }
    }
    let wait = WaitingLine.shared.begin("waiting for an accessory", limit: limit)
    defer { WaitingLine.shared.end(wait) }
    let timer = IOThread.shared.schedule(at: .now + limit) { search.cancel() }
    defer { IOThread.shared.cancel(timer) }
    try await withTaskCancellationHandler {
      try await search.value
    } onCancel: {
      search.cancel()
    }
    try AccessoryWait.checkInterruption()
    return await KnownDevices.accessories(on: try await source.devices().filter { all || $0.mayBeAccessory })
  }

  /// The service's record of each device that a service holds, by the device's place, and the records of those that are gone. A service
  /// that doesn't answer is skipped. In `devices`, a line on which a service has found several accessories is replaced by these
  /// accessories.
  private func held(
    _ devices: inout [Device]
  ) async -> (held: [String: Bridge.Accessory], gone: [Bridge.Accessory]) {
    var reported: [String: Bridge.Accessory] = [:]
    let known = await ServiceEntry.all(at: ServicePlace.all(), absent: true, replyTimeout: .seconds(2)).held
    let all = known.filter { !$0.isAbsent }
    let units = Dictionary(grouping: all.filter(\.isHeld).map(\.device).filter { $0.unit != nil }, by: \.address)
    devices = devices.flatMap { device -> [Device] in
      guard device.unit == nil, let units = units[device.address] else { return [device] }
      return units.compactMap(\.unit).sorted().map { device.onLine(unit: $0) }
    }
    // The system doesn't report devices that a user has named: a place on the network, a socket. A Bluetooth device may
    // be invisible to this user, or out of reach now.
    for one in all where one.isHeld && [.named, .bluetooth].contains(one.device.source) {
      if !devices.contains(where: { $0.isSame(as: one.device) }) { devices.append(one.device) }
    }
    var near: [String: [Device]] = [:]
    for device in devices { for place in device.places { near[place, default: []].append(device) } }
    // An awaited accessory may have left its address to another device, whose record counts.
    for one in all.filter(\.isAwaited) + all.filter({ !$0.isAwaited }) {
      let again = one.isAwaited ? SameAgain(one.device) : nil
      for place in one.device.places {
        for device in near[place] ?? [] where one.device.isSame(as: device) && again?.fits(device) != false {
          reported[device.place] = one.accessory
        }
      }
    }
    // A service remembers twins that aren't there, and what the user calls an accessory.
    for index in devices.indices {
      guard let its = reported[devices[index].place]?.device else { continue }
      if its.hasTwin { devices[index].hasTwin = true }
      devices[index].given = its.given
    }
    let gone = known.filter { entry in
      let again = SameAgain(entry.device)
      return (entry.isAbsent || entry.isAwaited && entry.accessory.last_seen != nil)
        && !devices.contains(where: again.fits)
    }
    return (reported, gone.map(\.accessory))
  }

  /// Replaces each line whose profile says that its units are to be searched by the units that answer. A line that
  /// can't be searched stays in the list, and a note says why.
  private func searched(_ devices: [Device]) async -> [Device] {
    let store = await KnownProfiles.store
    var found: [Device] = []
    for device in devices {
      guard device.unit == nil, let profile = store.profile(for: device), profile.units == .scan else {
        found.append(device)
        continue
      }
      let opener = DeviceOpener(device, profile: profile, drivers: KnownDrivers.library)
      guard let numbers = opener.driver?.units?.scan else {
        found.append(device)
        continue
      }
      let name = SafeText.escape(device.id)
      Output.note("Asking units \(numbers.lowerBound) to \(numbers.upperBound) on \(name) …")
      let units = Locked<[Int]>([])
      let problem: AccessoryError?
      do throws(AccessoryError) {
        try await WaitingLine.during("asking units on \(device.id)") { () async throws(AccessoryError) in
          try await opener.search(Array(numbers)) { unit in units.withLock { $0.append(unit) } }
        }
        problem = nil
      } catch {
        problem = error
      }
      if let problem { Output.note("\(name): \(SafeText.escape(problem.message, limit: 300))") }
      let answering = units.withLock { $0 }
      if answering.isEmpty, problem == nil { Output.note("No unit on \(name) answers.") }
      found += answering.isEmpty ? [device] : answering.map { device.onLine(unit: $0) }
    }
    return found
  }

  /// The accessory's state with the service that holds it, and the profile that the service applies.
  private func state(_ accessory: Bridge.Accessory?) -> [String] {
    guard let accessory else { return ["-", "-"] }
    return [HeldView.word(accessory), Table.cell(accessory.profile)]
  }

  /// How old the service's last reading is.
  private func age(_ accessory: Bridge.Accessory?) -> String {
    if accessory?.isSilent == true { return "no answer" }
    guard let accessory, let age = accessory.readings_age_ms else { return "-" }
    return AgeView.text(age, isStale: accessory.stale == true)
  }

  private func word(_ access: PortAccess) -> String {
    switch access.refusal?.kind {
    case .permissionDenied: "denied"
    case nil: access.holder == nil ? "free" : "in use"
    default: "gone"
    }
  }
}

extension Bridge.Accessory {
  /// Whether the accessory is one of several on a line, and doesn't answer.
  fileprivate var isSilent: Bool {
    device.unit != nil && state == .waiting && problem?.kind == AccessoryError.Kind.timedOut.errorName
  }
}
