// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryProtocols

/// A UPS or another power device with a battery that follows the USB class for power devices: the `hid-power` driver.
///
/// It is asked for feature reports, one after another, and reports changes by input reports.
public final class PowerDevice: Accessory {
  /// The driver's name in profiles.
  public static let driverName = "hid-power"

  /// The device's name in messages to the user.
  public let label: String
  private let transport: HIDTransport
  private let state: Locked<State>
  private let changes = EventHub<AccessoryNews>(limit: 64)

  private struct State: Sendable {
    var reports: PowerReports
    /// The reports that the device refused at the last request.
    var refused: Set<UInt8> = []
    /// The battery and the values that were last reported.
    var told: BatteryReading?
    var toldValues: [AccessoryValue] = []
  }

  private init(_ transport: HIDTransport) {
    (self.transport, label) = (transport, transport.label)
    let quirks = PowerQuirks.of(vendor: transport.maker.vendor, product: transport.maker.product)
    state = Locked(State(reports: PowerReports(transport.descriptor, quirks)))
  }

  /// Closes the device when it is released.
  deinit { transport.beginClose() }

  /// A power device that is open as `transport`, which it owns from now on. Sends nothing. If the device reports no battery, closes it
  /// and throws `unsupported`.
  public static func open(
    _ transport: HIDTransport, clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) -> PowerDevice {
    let device = PowerDevice(transport)
    let reports = device.state.withLock { $0.reports }
    guard PowerReports.batteryUsages.contains(where: { reports.has($0) }) else {
      await transport.close()
      throw AccessoryError(
        .unsupported,
        "\(device.label) tells nothing of a battery in its reports"
          + (transport.descriptor.damage.map { ": its report descriptor is damaged, \($0)" } ?? ""))
    }
    device.follow(clock)
    return device
  }

  // MARK: - Reports

  /// Stores the input reports as they arrive, until the device is unplugged.
  private func follow(_ clock: any TimerClock) {
    let reports = transport.reports.gathered(on: clock) { $0.first }
    Task { [weak self] in
      do throws(AccessoryError) {
        for try await group in reports { self?.take(group) }
        self?.changes.finish(nil)
      } catch {
        self?.changes.finish(error)
      }
    }
  }

  private func take(_ reports: [[UInt8]]) {
    let isHeard = changes.hasConsumers
    // A device repeats its reports, so only differences are reported. Whether it runs on battery is a value, for which `upsmon`
    // waits.
    let news = state.withLock { state -> [AccessoryNews] in
      let known = reports.count { state.reports.take(.input, $0) }
      guard known > 0, isHeard else { return [] }
      let (reading, values) = (state.reports.battery(), state.reports.values())
      let changed = values.filter { !state.toldValues.contains($0) }
      defer { (state.told, state.toldValues) = (reading, values) }
      return (changed.isEmpty ? [] : [.values(changed)]) + (reading == state.told ? [] : [.battery(reading)])
    }
    for one in news { changes.send(one) }
  }

  /// Asks for the feature reports that have one of these usages, and skips those that the device refuses. If none is answered, throws
  /// the error of the first; also throws when the device is unplugged.
  private func ask(_ usages: Set<HIDUsage>) async throws(AccessoryError) {
    let numbers = state.withLock { $0.reports.fields.features(with: usages) }
    var problem: AccessoryError?
    var answered = 0
    for number in numbers {
      do throws(AccessoryError) {
        let report = try await transport.feature(number)
        state.withLock { state in
          _ = state.reports.take(.feature, report)
          state.refused.remove(number)
        }
        answered += 1
      } catch {
        guard [.refused, .timedOut].contains(error.kind) else { throw error }
        state.withLock { _ = $0.refused.insert(number) }
        problem = problem ?? error
        // If the device is silent, don't ask for the rest.
        if error.kind == .timedOut { break }
      }
    }
    if answered == 0, let problem { throw problem }
  }

  // MARK: - Asking

  /// The identity, from the kernel. The device isn't asked.
  public func identify() async throws(AccessoryError) -> AccessoryIdentity {
    let maker = transport.maker
    return AccessoryIdentity(
      manufacturer: maker.manufacturer ?? "", model: maker.name ?? "", serialNumber: maker.serialNumber ?? "",
      firmwareRevision: "", hardwareRevision: "")
  }

  /// The battery. Throws the errors of asking for a report.
  public func battery() async throws(AccessoryError) -> BatteryReading {
    try await ask(PowerReports.batteryUsages)
    return state.withLock { state in
      let reading = state.reports.battery()
      state.told = reading
      return reading
    }
  }

  /// All other values. Throws the errors of asking for a report.
  public func values() async throws(AccessoryError) -> [AccessoryValue] {
    try await ask(PowerReports.valueUsages)
    return state.withLock { state in
      state.toldValues = state.reports.values()
      return state.toldValues
    }
  }

  /// The battery, and which readings are missing.
  public func readBattery() async throws(AccessoryError) -> Read<BatteryReading> {
    Read(try await battery(), age: .zero).lacking(unanswered)
  }

  /// All other values, and which of them are missing.
  public func readValues() async throws(AccessoryError) -> Read<[AccessoryValue]> {
    Read(try await values(), age: .zero).lacking(unanswered)
  }

  /// Why some readings are missing: the device's descriptor is damaged, or it refuses some reports.
  public var unanswered: String? {
    if let damage = transport.descriptor.damage {
      return "its report descriptor is damaged (\(damage)), so only what stands before that is read"
    }
    let refused = state.withLock { $0.refused.sorted() }
    guard !refused.isEmpty else { return nil }
    return "it refused the feature reports \(refused.map(String.init).joined(separator: ", "))"
  }

  /// The battery and the values that an input report changes.
  public func news() -> EventStream<AccessoryNews> { changes.stream() }

  // MARK: - Commands

  /// The commands of all power devices. A device may lack the field for some of them.
  public func commands() -> [CommandDescription] { PowerCommand.descriptions }

  /// Performs commands one after another. Throws `permissionDenied` for a call that isn't permitted, `unsupported` when the device
  /// has no field for the command, and the errors of setting a report.
  public func perform(_ calls: [CommandCall], isAnswered: Bool) async throws(AccessoryError) -> [CommandReply] {
    var replies: [CommandReply] = []
    for call in calls {
      guard let command = PowerCommand(rawValue: call.command.name) else {
        throw AccessoryError(.unsupported, "\(label) has no command \(call.command.name)")
      }
      guard call.isPermitted else {
        throw AccessoryError(.permissionDenied, "\(command.rawValue) changes \(label), and that isn't permitted")
      }
      try await set(command, call)
      replies.append(CommandReply(call.command))
    }
    return replies
  }

  /// Sets one field. The other fields of its report keep the device's values.
  private func set(_ command: PowerCommand, _ call: CommandCall) async throws(AccessoryError) {
    let field = try field(for: command)
    let wanted: Int64? =
      switch command {
      case .beeper: ["off": 1, "on": 2, "mute": 3][call.text("state")]
      case .testBattery: ["quick": 1, "deep": 2, "abort": 3][call.text("kind")]
      case .loadOff: field.number(for: Double(call.whole("delay")))
      // -1 means that no shutdown is pending.
      case .cancelLoadOff: -1
      }
    var report = try await transport.feature(field.report)
    let size = transport.descriptor.byteCount(of: .init(kind: .feature, number: field.report)) ?? report.count
    report = Array((report + [UInt8](repeating: 0, count: max(0, size - report.count))).prefix(size))
    guard let wanted, field.put(wanted, into: &report) else {
      throw AccessoryError(
        .misconfigured,
        "\(label) can't do \(command.rawValue) in that way: it takes the numbers \(field.logical.lowerBound) to "
          + "\(field.logical.upperBound) there")
    }
    try await transport.setFeature(report)
  }

  /// The field that a command sets. Throws when the device has several candidates, so that nothing is sent.
  private func field(for command: PowerCommand) throws(AccessoryError) -> HIDReportField {
    let fields = state.withLock { $0.reports.fields }
    do throws(PowerFields.Doubt) {
      for usage in command.usages { if let field = try fields.setting(usage) { return field } }
    } catch {
      throw AccessoryError(
        .unsupported, "\(label) has a setting for \(command.rawValue) \(error.text): nothing was sent")
    }
    throw AccessoryError(.unsupported, "\(label) has no setting for \(command.rawValue)")
  }

  /// Closes the device.
  public func close() async {
    await transport.close()
    changes.finish(nil)
  }
}
