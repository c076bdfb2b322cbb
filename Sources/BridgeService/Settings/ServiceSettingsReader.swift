// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols

/// Reads the text of a service's configuration, and reports all mistakes in it.
struct ServiceSettingsReader: ValueReader {
  let file: String
  var problems: [ProfileProblem] = []
  private var unfitAlarms: [ProfileProblem] = []
  static var places: [KnownKeys.Place] {
    [
      ("an entry of commands", entryKeys), ("an entry of alarms", alarmKeys), ("an argument", limitKeys),
      ("an entry of messages", messageKeys), ("an entry of names", nameKeys),
    ]
  }

  private static let subjectKeys = ["accessory", "profile", "driver"]
  private static let entryKeys = subjectKeys + ["command", "arguments", "write", "at_most"]
  private static let alarmKeys = subjectKeys + ["rules", "tell"]
  static let wayKeys = ["ntfy", "webhook", "mail", "run"]
  static let messageKeys = ["name"] + wayKeys + ["from", "token_file", "repeat"]
  private static let nameKeys = ["accessory", "name", "area"]
  private static let limitKeys = ["min", "max", "allowed"]

  /// The names of the ways in this file.
  private var wayNames: [String] = []
  private let drivers: DriverLibrary
  private let profiles: [Profile]

  /// Reads a YAML text of up to 64 KiB. `file` is its name in the problems. Throws at most 20 problems at a time.
  static func read(
    _ bytes: [UInt8], file: String, drivers: DriverLibrary, profiles: [Profile]
  ) throws(ProfileProblems) -> ServiceSettings {
    var reader = ServiceSettingsReader(file: file, drivers: drivers, profiles: profiles)
    return try reader.read(yaml: bytes) { $0.settings($1) }
  }

  private init(file: String, drivers: DriverLibrary, profiles: [Profile]) {
    (self.file, self.drivers, self.profiles) = (file, drivers, profiles)
  }

  private mutating func settings(_ node: YAMLNode) -> ServiceSettings {
    let keys = [
      "commands", "alarms", "messages", "max_accessories", "bluetooth_connections", "power_supply", "forget_after",
      "names",
    ]
    guard let fields = fields(node, "a service's configuration", keys) else { return ServiceSettings() }
    var settings = ServiceSettings()
    if let node = fields["commands"], node.content != .sequence([]) { settings.commands = permissions(node) }
    if let node = fields["messages"], node.content != .sequence([]) { settings.messages = messages(node) }
    wayNames = settings.messages.map(\.name)
    if let node = fields["alarms"], node.content != .sequence([]) { settings.alarms = alarms(node) }
    settings.unfitAlarms = unfitAlarms
    if let node = fields["max_accessories"], let number = number(node, "max_accessories") {
      if number < 1 { report(node.mark, "max_accessories must be at least 1") }
      settings.maximumAttached = number
    }
    settings.bluetoothConnections = fields["bluetooth_connections"].flatMap { connections($0) }
    if let node = fields["power_supply"], let isOn = flag(node, "power_supply") {
      settings.attachesPowerSupplies = isOn
    }
    if let node = fields["names"], node.content != .sequence([]) { settings.names = names(node) }
    if let node = fields["forget_after"] { settings.forgetAfter = forgetting(node) }
    return settings
  }

  /// Reads what accessories are called.
  private mutating func names(_ node: YAMLNode) -> [String: GivenName] {
    var names: [String: GivenName] = [:]
    for element in list(node, "names", limit: GivenNames.limit) ?? [] {
      guard let fields = fields(element, "an entry of names", Self.nameKeys) else { continue }
      func text(_ key: String) -> String? {
        fields[key].flatMap { node in
          guard let text = self.text(node, "\(key) of an accessory", limit: 255) else { return nil }
          guard let problem = GivenName.problem(of: text) else { return text }
          report(node.mark, "\(key) \(problem)")
          return nil
        }
      }
      guard
        let accessory = fields["accessory"].flatMap({ self.text($0, "an accessory's id or serial number", limit: 255) })
      else {
        report(element.mark, "accessory is missing: {accessory: SIM0001, name: House battery, area: Attic}")
        continue
      }
      let given = GivenName(name: text("name"), area: text("area"))
      if names.updateValue(given, forKey: accessory) != nil {
        report(element.mark, "there are two entries for \(Quoted.text(accessory)): make one of both")
      }
    }
    return names
  }

  /// Reads a time in seconds from a minute to ten years; nil for never.
  private mutating func forgetting(_ node: YAMLNode) -> Double? {
    if case .scalar(let text) = node.content {
      if text == "never" { return nil }
      let seconds =
        if text.hasSuffix("d") {
          Int(text.dropLast()).map { Double($0) * 86_400 }
        } else {
          TimeText.read(text).map { Double($0.inNanoseconds) / 1e9 }
        }
      if let seconds, (60...3_650 * 86_400).contains(seconds) { return seconds }
    }
    report(node.mark, "forget_after must be a time from 1m to 3650d, like 30d or 12h, or never, not \(kind(node))")
    return ServiceSettings.usualForgetting
  }

  /// Reads a number for all adapters, or one for each.
  private mutating func connections(_ node: YAMLNode) -> BluetoothConnections? {
    var connections = BluetoothConnections()
    guard case .mapping(let entries) = node.content else {
      guard let number = whole(node, "bluetooth_connections", BluetoothConnections.range) else { return nil }
      connections.usual = number
      return connections
    }
    for entry in entries {
      guard BluetoothAdapterName(entry.key)?.number != nil else {
        report(
          entry.value.mark, "\(Quoted.text(entry.key)) is no adapter's name: bluetooth_connections: {hci0: 7, hci1: 4}")
        continue
      }
      connections.adapters[entry.key] = whole(entry.value, entry.key, BluetoothConnections.range)
    }
    return connections
  }

  private mutating func permissions(_ commands: YAMLNode) -> [CommandPermission] {
    var permissions: [CommandPermission] = []
    var lines: [[String]: Int] = [:]
    for element in list(commands, "commands", limit: ServiceSettings.commandLimit) ?? [] {
      guard let permission = permission(element) else { continue }
      let key = ["\(permission.subject)", permission.command]
      if let line = lines.updateValue(element.mark.line, forKey: key) {
        report(element.mark, "line \(line) has an entry for this command of these accessories: make one of both")
      }
      permissions.append(permission)
    }
    return permissions
  }

  // MARK: - Alarms

  /// Reads rules for all accessories, and entries for some of them.
  private mutating func alarms(_ node: YAMLNode) -> [AlarmEntry] {
    var forAll: [AlarmRule] = []
    var entries: [AlarmEntry] = []
    for element in list(node, "alarms", limit: ServiceSettings.alarmLimit) ?? [] {
      if case .mapping(let keys) = element.content, keys.contains(where: { Self.alarmKeys.contains($0.key) }) {
        if let entry = alarmEntry(element) { entries.append(entry) }
      } else if let rule = alarmRule(element) {
        add(rule, to: &forAll, element)
      }
    }
    if forAll.count > AlarmRule.countLimit {
      report(node.mark, "there are at most \(AlarmRule.countLimit) alarms for all accessories, not \(forAll.count)")
    }
    return forAll.isEmpty ? entries : [AlarmEntry(nil, forAll)] + entries
  }

  private mutating func alarmEntry(_ node: YAMLNode) -> AlarmEntry? {
    guard let fields = fields(node, "an entry of alarms", Self.alarmKeys) else { return nil }
    let ways = fields["tell"].map { told($0) }
    // An entry for all accessories needs a reason to be no plain rule.
    let isForAll = ways != nil && !Self.subjectKeys.contains { fields[$0] != nil }
    let subject = isForAll ? nil : subject(fields, node)
    guard let rules = fields["rules"] else {
      report(node.mark, "rules are missing: rules: [battery < 20 %, fault]")
      return nil
    }
    let read = markedAlarmRules(rules)
    if let subject { unfitAlarms += unfit(read, description(of: subject)) }
    return subject != nil || isForAll ? AlarmEntry(subject, read.map(\.rule), ways: ways) : nil
  }

  /// Reads the names of ways, or none.
  private mutating func told(_ node: YAMLNode) -> [String] {
    if node.content == .scalar("none") { return [] }
    var names: [String] = []
    for element in oneOrMore(node, "tell", limit: ServiceSettings.messageLimit) {
      guard let name = text(element, "a way's name", limit: 64) else { continue }
      if wayNames.contains(name) {
        names.append(name)
      } else {
        let known =
          wayNames.isEmpty
          ? "there are no messages in this file"
          : NearestWord.advice(name, among: wayNames, otherwise: "there are \(wayNames.joined(separator: ", "))")
        report(element.mark, "there is no way \(Quoted.text(name)) under messages: \(known)")
      }
    }
    return names
  }

  /// The protocol of the accessories that an entry names; nil where it isn't known or isn't described.
  private func description(of subject: CommandPermission.Subject) -> ProtocolDescription? {
    switch subject {
    case .accessory: return nil
    case .profile(let name):
      guard let profile = profiles.first(where: { $0.name == name }) else { return nil }
      return profile.described?.description
        ?? profile.driver.flatMap { drivers.protocols.described($0)?.description }
    case .driver(let name):
      return profiles.first { $0.described?.name == name }?.described?.description
        ?? drivers.protocols.described(name)?.description
    }
  }

  // MARK: - Entries

  private mutating func permission(_ node: YAMLNode) -> CommandPermission? {
    guard let fields = fields(node, "an entry of commands", Self.entryKeys) else { return nil }
    let subject = subject(fields, node)
    guard let commandNode = fields["command"] else {
      report(node.mark, "command is missing: the command's name, as bridge-cli request DEVICE --list shows it")
      return nil
    }
    let command = text(commandNode, "a command's name", limit: 64)
    var limits: [String: CommandPermission.Limit] = [:]
    if let node = fields["arguments"] { limits = arguments(node) }
    let mayWrite = fields["write"].flatMap { flag($0, "write") } ?? false
    let frequency = fields["at_most"].flatMap { rate($0) } ?? CommandPermission.Rate.standard
    guard let subject, let command else { return nil }
    let permission = CommandPermission(subject, command, arguments: limits, mayWrite: mayWrite, rate: frequency)
    check(permission, fields, commandNode)
    return permission
  }

  private mutating func subject(_ fields: [String: YAMLNode], _ entry: YAMLNode) -> CommandPermission.Subject? {
    let given = Self.subjectKeys.filter { fields[$0] != nil }
    guard given.count == 1, let key = given.first, let node = fields[key] else {
      report(entry.mark, "an entry names its accessories by one of \(Self.subjectKeys.joined(separator: ", "))")
      return nil
    }
    switch key {
    case "accessory": return text(node, "an accessory's id or serial number", limit: 255).map { .accessory($0) }
    case "profile": return known(node, "a profile", profiles.map(\.name)).map { .profile($0) }
    default:
      let names = drivers.drivers.map(\.name) + drivers.protocols.names
      return known(node, "a driver", names + profiles.filter { $0.described != nil }.map(\.name)).map { .driver($0) }
    }
  }

  /// Reads one of these names; there may be hundreds.
  private mutating func known(_ node: YAMLNode, _ what: String, _ names: [String]) -> String? {
    guard let name = text(node, "\(what)'s name", limit: 255) else { return nil }
    if names.contains(name) { return name }
    let advice = names.isEmpty ? "there is none" : KnownKeys.advice(name, among: names)
    report(node.mark, "there is no \(what.dropFirst(2)) \(Quoted.text(name)): \(advice)")
    return nil
  }

  // MARK: - Limits

  private mutating func arguments(_ node: YAMLNode) -> [String: CommandPermission.Limit] {
    guard case .mapping(let entries) = node.content, !entries.isEmpty else {
      report(node.mark, "arguments must be names with limits ({level: {min: 0, max: 50}}), not \(kind(node))")
      return [:]
    }
    guard entries.count <= ServiceSettings.argumentLimit else {
      report(node.mark, "a command has at most \(ServiceSettings.argumentLimit) arguments, not \(entries.count)")
      return [:]
    }
    var limits: [String: CommandPermission.Limit] = [:]
    for entry in entries { limits[entry.key] = limit(entry.value, of: entry.key) }
    return limits
  }

  private mutating func limit(_ node: YAMLNode, of name: String) -> CommandPermission.Limit? {
    if node.content == .scalar("any") { return .any }
    guard case .mapping = node.content else {
      report(
        node.mark,
        "what \(Quoted.text(name)) may be is {min: 0, max: 50}, {allowed: [red, green]} or any, not \(kind(node))")
      return nil
    }
    guard let fields = fields(node, "what an argument may be", Self.limitKeys) else { return nil }
    if let allowed = fields["allowed"] {
      guard fields.count == 1 else {
        report(node.mark, "an argument has either allowed values or min and max")
        return nil
      }
      return words(allowed)
    }
    guard !fields.isEmpty else {
      // With unknown keys alone, which are reported, nothing is left either.
      if problems.isEmpty { report(node.mark, "min, max or allowed is missing") }
      return nil
    }
    let minimum = fields["min"].map { number($0, "min") }
    let maximum = fields["max"].map { number($0, "max") }
    if minimum == .some(nil) || maximum == .some(nil) { return nil }
    let (lower, upper) = ((minimum ?? nil) ?? .min, (maximum ?? nil) ?? .max)
    guard lower <= upper else {
      report(node.mark, "min is greater than max")
      return nil
    }
    return .range(lower...upper)
  }

  private mutating func words(_ node: YAMLNode) -> CommandPermission.Limit? {
    var words: [String] = []
    for element in list(node, "allowed", limit: ServiceSettings.wordLimit) ?? [] {
      guard let word = text(element, "an allowed value", limit: 1_024) else { continue }
      words.append(word)
    }
    return words.isEmpty ? nil : .words(words)
  }

  /// Reads a whole number in decimal, which may be negative.
  private mutating func number(_ node: YAMLNode, _ what: String) -> Int? {
    if case .scalar(let text) = node.content, text.utf8.first != UInt8(ascii: "+"), let number = Int(text) {
      return number
    }
    report(node.mark, "\(what) must be a whole number, not \(kind(node))")
    return nil
  }

  private mutating func rate(_ node: YAMLNode) -> CommandPermission.Rate? {
    if case .scalar(let text) = node.content {
      let words = text.split(separator: " ")
      if words.count == 3, words[1] == "every", words[0].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let count = Int(words[0]), (1...1_000).contains(count), let interval = TimeText.read(String(words[2])),
        interval >= .milliseconds(100), interval <= .seconds(86_400)
      {
        return .init(count, every: interval)
      }
    }
    report(
      node.mark,
      "at_most must be a number and a time, like 1 every 5s, from 1 to 1000 and from 100ms to 24h, not \(kind(node))")
    return nil
  }

  // MARK: - Comparison with the driver's commands

  /// Compares an entry with the commands of the driver that it names, or that its profile names. The driver of an accessory
  /// isn't known before the accessory is there.
  private mutating func check(_ permission: CommandPermission, _ fields: [String: YAMLNode], _ node: YAMLNode) {
    guard let driver = driver(of: permission.subject) else { return }
    guard let command = driver.commands.first(where: { $0.name == permission.command }) else {
      let names = driver.commands.map(\.name)
      let advice = names.isEmpty ? "it has none" : KnownKeys.advice(permission.command, among: names)
      report(node.mark, "the driver \(driver.name) has no command \(Quoted.text(permission.command)): \(advice)")
      return
    }
    if command.isWrite, !permission.mayWrite {
      report(node.mark, "\(command.name) changes something in the accessory: that needs write: true in its entry")
    }
    let nodes = fields["arguments"].map(Self.entries) ?? [:]
    for (name, node) in nodes {
      guard let argument = command.arguments.first(where: { $0.name == name }) else {
        report(node.mark, "\(command.name) has no argument \(Quoted.text(name)): \(command.form)")
        continue
      }
      guard let limit = permission.arguments[name] else { continue }
      check(limit, argument, node)
    }
    for argument in command.arguments where argument.defaultValue == nil && nodes[argument.name] == nil {
      report(
        node.mark,
        "\(command.name) needs the argument \(argument.name): its entry must say what it may be (arguments: {\(argument.name): any})"
      )
    }
  }

  private mutating func check(
    _ limit: CommandPermission.Limit, _ argument: CommandDescription.Argument, _ node: YAMLNode
  ) {
    guard limit.fits(argument.kind) else {
      let form = "{allowed: [\(argument.kind.shortForm)]}"
      return report(node.mark, "\(argument.name) is \(argument.kind.form), so its limit is any or like \(form)")
    }
    if case .words(let words) = limit, let wrong = words.first(where: { argument.kind.value($0) == nil }) {
      return report(node.mark, "\(argument.name) must be \(argument.kind.form), not \(Quoted.text(wrong))")
    }
    if limit.narrowed(argument.kind) == nil {
      report(node.mark, "\(argument.name) must be \(argument.kind.form), and nothing of that is \(limit.text)")
    }
  }

  private static func entries(_ node: YAMLNode) -> [String: YAMLNode] {
    guard case .mapping(let entries) = node.content else { return [:] }
    return Dictionary(entries.map { ($0.key, $0.value) }) { first, _ in first }
  }

  private func driver(of subject: CommandPermission.Subject) -> Driver? {
    func driver(_ profile: Profile) -> Driver? {
      profile.described.map { Driver($0.description) } ?? profile.driver.flatMap { drivers.driver(named: $0) }
    }
    switch subject {
    case .accessory: return nil
    case .profile(let name): return profiles.first { $0.name == name }.flatMap(driver)
    case .driver(let name):
      return drivers.driver(named: name) ?? profiles.first { $0.described != nil && $0.name == name }.flatMap(driver)
    }
  }
}
