// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDescriptions
import AccessoryDiscovery
import AccessoryLink
import AccessoryProtocols

/// Reads the text of a profile, and reports all errors in it.
public struct ProfileReader: ValueReader {
  /// The size of the largest text, in bytes.
  public static var sizeLimit: Int { YAMLReader.sizeLimit }
  /// The most rules in a profile.
  public static let ruleLimit = 64

  package let file: String
  let drivers: DriverLibrary
  let protocols: DescriptionLibrary
  package var problems: [ProfileProblem] = []
  private var unfitAlarms: [ProfileProblem] = []
  package static var places: [KnownKeys.Place] { ProfileKeys.places }

  private init(file: String, drivers: DriverLibrary, protocols: DescriptionLibrary) {
    self.file = file
    self.drivers = drivers
    self.protocols = protocols
  }

  /// Reads a profile in YAML, of up to 64 KiB. Errors name the file `file`. The profile's driver must be one of
  /// `drivers` or the name of one of the described `protocols`. Throws up to 20 errors at once.
  public static func read(
    _ bytes: [UInt8], file: String, drivers: DriverLibrary, protocols: DescriptionLibrary = .builtIn
  ) throws(ProfileProblems) -> Profile {
    try check(bytes, file: file, drivers: drivers, protocols: protocols).profile
  }

  /// The same, with the rules of alarms whose limits can't be compared with the values of the profile's protocol. A
  /// profile with such rules can be used: their alarms are never raised.
  package static func check(
    _ bytes: [UInt8], file: String, drivers: DriverLibrary, protocols: DescriptionLibrary = .builtIn
  ) throws(ProfileProblems) -> (profile: Profile, unfitAlarms: [ProfileProblem]) {
    var reader = ProfileReader(file: file, drivers: drivers, protocols: protocols)
    let profile = try reader.read(yaml: bytes) { $0.profile($1) }
    return (profile, reader.unfitAlarms)
  }

  // MARK: - Parts of a profile

  private mutating func profile(_ node: YAMLNode) -> Profile? {
    guard let fields = keys(node, ProfileKeys.profile) else { return nil }
    let name = fields["name"].flatMap { plainName($0, "a name") }
    var profile = Profile(name: name ?? "", rules: fields["match"].map { rules($0) } ?? [])
    profile.description = text(fields, "description")
    let line = driver(fields, &profile)
    if let line { profile.transport.terminal = line }
    if let node = fields["parameters"] { profile.parameters = parameters(node, of: profile) }
    if let node = fields["transport"] { profile.transport = transport(node, from: profile.transport) }
    profile.protocolStrings = fields["protocols"].map { protocolStrings($0) } ?? []
    if let node = fields["pacing"], let pacing = pacing(node) { profile.pacing = pacing }
    if fields["connect"] != nil {
      profile.allowsConnecting = connects(fields, profile.rules)
    } else if description(of: profile)?.advertisement != nil {
      // What is only heard needs no permission to be connected.
      profile.allowsConnecting = profile.rules.contains { $0.bluetooth != nil }
    }
    // A device on the air comes back when it likes: it is waited for, with growing pauses.
    if profile.allowsConnecting { profile.policies = .onTheAir }
    if let node = fields["policies"] { profile.policies = policies(node, from: profile.policies) }
    if let node = fields["poll"] {
      profile.polls = polls(node, driverPolls(of: profile))
    }
    set(&profile.polls.letsSleep, flag(fields, "sleep"))
    if let node = fields["units"] { profile.units = units(node, of: profile) }
    profile.allowsWrites = word(fields, "writes") == "allowed"
    if let node = fields["share"] { profile.sharing = sharing(node, allowsWrites: profile.allowsWrites) }
    if let node = fields["reset"] { profile.reset = boardReset(node) }
    if let node = fields["low"] { profile.lowLimit = lowLimit(node) }
    if let node = fields["alarms"] {
      let rules = markedAlarmRules(node)
      profile.alarms = rules.map(\.rule)
      unfitAlarms = unfit(rules, description(of: profile))
    }
    return name == nil ? nil : profile
  }

  /// The description of the profile's protocol; nil when its driver has none.
  private func description(of profile: Profile) -> ProtocolDescription? {
    profile.described?.description ?? profile.driver.flatMap { protocols.described($0)?.description }
  }

  /// The polls of the profile's driver; nil when it has no driver.
  private func driverPolls(of profile: Profile) -> [AccessoryPoll]? {
    guard let name = profile.driver else { return nil }
    return profile.described?.description.accessoryPolls ?? drivers.driver(named: name)?.polls
      ?? protocols.described(name)?.description.accessoryPolls
  }

  /// Reads the driver or the protocol. Returns the line settings of the protocol's description, if it has any.
  private mutating func driver(_ fields: KeyedNodes, _ profile: inout Profile) -> TerminalSettings? {
    profile.driver = fields["driver"].flatMap { driverName($0) }
    profile.origin.asksForReports = profile.driver.flatMap { drivers.driver(named: $0) }?.channel == .reports
    guard let node = fields["protocol"] else { return profile.driver.flatMap { protocols.described($0)?.line } }
    if fields["driver"] != nil { report(node.mark, "protocol already names the driver: leave out driver") }
    guard case .mapping = node.content else {
      let name = word(node, "a described protocol (or its description)", among: protocols.names)
      profile.driver = name
      return name.flatMap { protocols.described($0)?.line }
    }
    // The protocol has the profile's name, so no other protocol may have it.
    if drivers.drivers.contains(where: { $0.name == profile.name }) || protocols.names.contains(profile.name) {
      report(
        node.mark, "there is another protocol with the profile's name, \(profile.name): call the profile something else"
      )
    }
    var reader = DescriptionReader(file: file, takenNames: drivers.names)
    let described = reader.describedProtocol(node, name: profile.name)
    problems += reader.problems.prefix(max(0, Self.problemLimit - problems.count))
    guard var described, reader.problems.isEmpty else { return nil }
    described.text = YAMLText.text(node, indentation: 2)
    profile.described = described
    profile.driver = profile.name
    return described.line
  }

  /// Reads a driver's name. It must be a known driver, so that a wrong name is reported before a device is plugged in.
  private mutating func driverName(_ node: YAMLNode) -> String? {
    let names = drivers.drivers.map(\.name)
    return word(node, "a driver", among: names + protocols.names.filter { !names.contains($0) })
  }

  private mutating func protocolStrings(_ node: YAMLNode) -> [String] {
    guard let elements = list(node, "protocol strings", limit: 32) else { return [] }
    var strings: [String] = []
    for element in elements {
      guard let string = text(element, "a protocol string", limit: 255) else { continue }
      guard string.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
        report(element.mark, "a protocol string must be printable ASCII without spaces, like com.example.gadget")
        continue
      }
      if strings.contains(string) { report(element.mark, "the protocol string \(Quoted.text(string)) is given twice") }
      strings.append(string)
    }
    return strings
  }

  private mutating func lowLimit(_ node: YAMLNode) -> LowLimit? {
    let limit: LowLimit? = if case .scalar(let text) = node.content { LowLimit(text) } else { nil }
    if limit == nil {
      report(
        node.mark, "low must be a charge from 1 to 99 %, a time, or both, like 15 % or 15 %, 5 min, not \(kind(node))")
    }
    return limit
  }

  private mutating func pacing(_ node: YAMLNode) -> Pacing? {
    if case .scalar = node.content {
      return word(node, "pacing (or {gap: 20ms}, {window: 4})", among: ["reply"]).map { _ in .reply }
    }
    guard let fields = keys(node, ProfileKeys.pacing) else { return nil }
    guard fields.count == 1 else {
      report(node.mark, "pacing must be reply, {gap: 20ms} or {window: 4}")
      return nil
    }
    return time(fields, "gap").map { .gap($0) } ?? number(fields, "window").map { .window($0) }
  }
}
