// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryProtocols
import AccessorySimulator
import ArgumentParser
import CommandOutput

struct SimulateDescribed: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "described",
    abstract: "Simulates an accessory whose protocol a file describes.",
    discussion: """
      The word described may be left out. simulate KIND --help shows the fields, messages and requests of that kind; help \
      simulators shows the faults and quirks. With --units, or with a profile that lists units, several accessories share the line.

      EXAMPLES
        bridge-cli simulate jbd --set battery.current=-12.5 --set battery.faults=cell-overvoltage
        bridge-cli simulate described daly --units 1,2,5 --set 5:battery.percent=12
        bridge-cli simulate ./mine.yaml --link ./acc
      """)

  @Argument(help: .value("kind", "A driver's name, a profile's, or a file."), completion: CompletionWords.protocols)
  var kind: String?
  @Option(help: .rare("kind", "The same as KIND."), completion: CompletionWords.protocols)
  var profile: String?
  @Option(help: .value("percent", "Battery in percent.")) var percent: Int?
  @Option(
    help: .value(
      "field=value",
      "Set a field, in its unit of measurement; for accessory 2 of several on the line: 2:battery.voltage=12.6."),
    transform: FieldArgument.read)
  var set: [FieldArgument] = []
  @Option(help: .value("percent", "Percent that the battery loses per second.")) var drain = 0.0
  @Option(help: .rare("time", "Time between two messages that it sends unasked."), transform: TimeArgument.read)
  var period: TimeArgument?
  @Option(
    help: .value("units", "Simulate several accessories on the line, with these unit numbers: 1,2,5 or 1..16."),
    transform: UnitsArgument.read)
  var units: UnitsArgument?
  @Option(help: .rare("units", "Units that don't reply."), transform: UnitsArgument.read) var silent: UnitsArgument?
  @Option(help: .rare("unit=time", "A unit whose replies are delayed: 5=300ms."), transform: LateArgument.read)
  var late: [LateArgument] = []
  @Option(
    help: .rare("units", "Units that SIGUSR1 removes from the line; the next SIGUSR1 puts them back."),
    transform: UnitsArgument.read)
  var pull: UnitsArgument?
  @Option(help: .value("text", "Serial number.")) var serial: String?
  @Flag(help: .rare("Be a USB device with text in HID reports. Needs root and vhci-hcd.")) var hidText = false
  @Flag(help: "List the kinds of accessories that can be simulated.")
  var list = false
  @OptionGroup var quirks: QuirkOptions
  @OptionGroup var options: ValueOptions<SimulatedLine>
  @OptionGroup var output: OutputOptions

  func validate() throws {
    try options.check()
    if kind != nil, profile != nil { throw ValidationError("name the kind once: leave out --profile") }
    guard (0...100).contains(percent ?? 0) else { throw ValidationError("--percent must be 0 to 100") }
    guard (0...100).contains(drain) else { throw ValidationError("--drain must be 0 to 100 percent per second") }
    if hidText, options.values.ble != nil || options.values.link != nil {
      throw ValidationError("--hid-text can't be used with --ble or --link: there is neither a radio nor a terminal")
    }
    if let period, period.duration < .milliseconds(10) { throw ValidationError("--period must be at least 10ms") }
    guard serial?.utf8.count ?? 0 <= 256 else {
      throw ValidationError("an accessory's texts can have at most 256 bytes")
    }
  }

  /// Throws when an option names a unit that isn't on the line. `units` are those that `origin` gives; nil where the
  /// accessory is alone.
  private func check(_ units: [Int]?, of origin: String) throws {
    let named =
      (silent?.units ?? []) + late.map(\.unit) + (pull?.units ?? []) + set.compactMap(\.unit)
    guard let units else {
      guard named.isEmpty else {
        throw UsageError("--units is missing: this option needs several accessories on the line")
      }
      return
    }
    if let stranger = named.first(where: { !units.contains($0) }) {
      throw UsageError("\(origin) has no unit \(stranger)")
    }
  }

  func run() async throws {
    if list { return SimulatedKinds.show(json: output.json) }
    guard let profile = profile ?? kind else { throw CleanExit.helpRequest(Simulate.self) }
    let (described, listed) = try await Self.described(profile)
    let units = units?.units ?? listed
    try check(units, of: self.units == nil ? "the profile \(profile)" : "--units")
    let serial = try await SimulatedSerial.chosen(serial, or: "SIM", digits: 4)
    var device = try DescribedDevice(described.description, serialNumber: serial)
    if let period { device.period = period.duration }
    if drain > 0 { device.drainInterval = .nanoseconds(Int64(1e9 / drain)) }
    device.quirks = try quirks.quirks(of: described.description)
    for field in set where field.unit == nil { try device.set(field.name, to: field.value) }
    if let percent, !device.set(percent: percent) {
      throw UsageError("\(described.name) accessories report no percent: set one of their fields with --set")
    }
    // What depends on the charge has been calculated with the chosen values. Those that were chosen themselves stay.
    for field in set where field.unit == nil && field.name != "battery.percent" {
      try device.set(field.name, to: field.value)
    }
    let line = options.values
    let start = SimulatorStart(serialNumber: serial, seed: line.seed ?? .random(in: 0 ... .max))
    let view = SimulatorView(json: output.json, start: start, link: line.link)
    let (air, comesBack) = (described.description.bluetooth, line.faults.replug != nil)
    let port = GATTSettings(service: air?.service, write: air?.write, notify: air?.notify)
    let told = air?.looks.compactMap(\.service).first
    guard let units else {
      let simulator = line.simulator(device, start, onAir: port, telling: told, onUSB: usb(serial))
      return try await view.run(simulator, comesBack: comesBack) { event in SimulatorNews.of(event) { Self.shown($0) } }
    }
    let simulator = line.simulator(
      try self.line(device, units), start, onAir: port, telling: told, onUSB: usb(serial))
    try await view.run(simulator, comesBack: comesBack, onSignal: { await $0.perform(.pull) }) { event in
      SimulatorNews.of(event) { Self.shown($0.news, unit: $0.unit) }
    }
  }

  /// The USB device that it is; nil for a terminal.
  private func usb(_ serial: String) -> SimulatedUSBIdentity? {
    guard hidText else { return nil }
    var identity = SimulatedUSBIdentity.text
    identity.serialNumber = serial
    return identity
  }

  /// Several simulated units of `device` on one line.
  private func line(_ device: DescribedDevice, _ units: [Int]) throws(AccessoryError) -> DescribedUnits {
    var line = try DescribedUnits(device, units: units)
    // The charge first, because other fields follow it.
    for field in set.filter({ $0.name == "battery.percent" }) + set.filter({ $0.name != "battery.percent" }) {
      guard let unit = field.unit else { continue }
      try line.change(unit) { device throws(AccessoryError) in try device.set(field.name, to: field.value) }
    }
    line.silent = Set(silent?.units ?? [])
    line.delays = Dictionary(late.map { ($0.unit, $0.delay) }) { $1 }
    line.pulled = Set(pull?.units ?? [])
    return line
  }

  private static func shown(_ news: DescribedDevice.News, unit: Int? = nil) -> SimulatorNews? {
    let (who, of) = unit.map { ("unit \($0)", " to unit \($0)") } ?? ("it", "")
    switch news {
    case .asked: return nil
    case .unknownRequest:
      return SimulatorNews(
        "unknown_request", "a request\(of) is not in the description", unit: unit)
    case .lost: return SimulatorNews("lost", "a request\(of) was lost", unit: unit)
    case .unsendable(let message):
      return SimulatorNews(
        "unsendable", "\(who) can't send \(message) with these values", text: message, unit: unit)
    }
  }

  /// The description that a word names: a file, a built-in protocol or a profile. With the parameters and the units of the
  /// profile; the units are nil where it lists none.
  static func described(_ word: String) async throws -> (DescribedProtocol, units: [Int]?) {
    if KnownDrivers.isFile(word) { return (try await KnownDrivers.described(inFile: word), nil) }
    let library = KnownDrivers.library.protocols
    if let described = library.described(word) { return (described, nil) }
    if SimulatedKinds.commands.contains(word) {
      throw UsageError("write the kind before its options: bridge-cli simulate \(word)")
    }
    let store = await KnownProfiles.library().store
    if let profile = store.profile(named: word) {
      if var described = profile.described ?? profile.driver.flatMap({ library.described($0) }) {
        described.description = described.description.setting(profile.parameters)
        if case .list(let units)? = profile.units { return (described, units) }
        return (described, nil)
      }
      let driver = profile.driver.flatMap { name in SimulatedKinds.commands.first { $0 == name } }
      throw UsageError(
        "the profile \(word) names no described protocol: "
          + (driver.map { "bridge-cli simulate \($0) simulates its driver" }
            ?? "bridge-cli simulate --list shows the kinds"))
    }
    throw SimulatedKinds.missing(word)
  }
}

/// A field's name and value on the command line.
struct FieldArgument: FormArgument {
  static let form = "a field with its value, like battery.voltage=12.6"
  /// The unit that has the field; nil for all units.
  let unit: Int?
  let name: String
  let value: PlainValue

  init?(argument: String) {
    guard let equals = argument.firstIndex(of: "="), equals > argument.startIndex else { return nil }
    let field = argument[..<equals]
    if let colon = field.firstIndex(of: ":") {
      guard let unit = UnitName.number(field[..<colon]) else { return nil }
      (self.unit, name) = (unit, String(field[field.index(after: colon)...]))
    } else {
      (unit, name) = (nil, String(field))
    }
    let text = argument[argument.index(after: equals)...]
    value = text.contains(",") ? .list(text.split(separator: ",").map(Self.value)) : Self.value(text)
  }

  private static func value(_ text: Substring) -> PlainValue {
    switch text {
    case "unknown": .nothing
    case "true", "yes", "on": .flag(true)
    case "false", "no", "off": .flag(false)
    default: Int(text).map { .whole($0) } ?? Double(text).map { .number($0) } ?? .text(String(text))
    }
  }
}
