// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryLink

/// Makes a profile of its text, and says everything that is wrong with it.
public struct ProfileReader {
  /// Bytes that a profile's text may have.
  public static var sizeLimit: Int { YAMLReader.sizeLimit }
  /// Rules that a profile may have.
  public static let ruleLimit = 64

  let file: String
  let drivers: DriverLibrary
  private(set) var problems: [ProfileProblem] = []

  private init(file: String, drivers: DriverLibrary) {
    self.file = file
    self.drivers = drivers
  }

  /// Reads the profile in a YAML text of up to 64 KiB, which is called `file` in what is wrong with it. The driver
  /// that it names must be one of `drivers`. Throws up to 20 things at a time.
  public static func read(
    _ bytes: [UInt8], file: String, drivers: DriverLibrary = .builtIn
  ) throws(ProfileProblems) -> Profile {
    var reader = ProfileReader(file: file, drivers: drivers)
    do throws(YAMLError) {
      let profile = reader.profile(try YAMLReader.read(bytes))
      if let profile, reader.problems.isEmpty { return profile }
    } catch {
      reader.report(error.mark, error.message)
    }
    throw ProfileProblems(
      problems: reader.problems.sorted { ($0.line ?? 0, $0.column ?? 0) < ($1.line ?? 0, $1.column ?? 0) })
  }

  mutating func report(_ mark: YAMLMark, _ message: String) {
    guard problems.count < 20 else { return }
    problems.append(ProfileProblem(file: file, line: mark.line, column: mark.column, message: message))
  }

  // MARK: - The profile

  private mutating func profile(_ node: YAMLNode) -> Profile? {
    guard let fields = fields(node, "a profile", KnownKeys.profile) else { return nil }
    if fields["name"] == nil { report(node.mark, "a name is missing: name: my-gadget") }
    let name = fields["name"].flatMap { profileName($0) }
    if fields["match"] == nil {
      report(node.mark, "match is missing: what must a device be, for example match: {serial: A123}")
    }
    var profile = Profile(name: name ?? "", rules: fields["match"].map { rules($0) } ?? [])
    profile.description = fields["description"].flatMap { text($0, "a description", limit: 200) }
    if let node = fields["transport"] { profile.transport = transport(node) }
    profile.driver = fields["driver"].flatMap { driverName($0) }
    profile.protocolStrings = fields["protocols"].map { protocolStrings($0) } ?? []
    if let node = fields["pacing"], let pacing = pacing(node) { profile.pacing = pacing }
    if let node = fields["policies"] { profile.policies = policies(node) }
    if let node = fields["poll"] {
      profile.polls = polls(node, profile.driver.flatMap { drivers.driver(named: $0) }?.polls)
    }
    set(&profile.polls.letsSleep, fields["sleep"].flatMap { flag($0, "sleep") })
    if let node = fields["writes"] { profile.allowsWrites = writes(node) }
    return name == nil ? nil : profile
  }

  private mutating func profileName(_ node: YAMLNode) -> String? {
    guard let name = text(node, "a name", limit: 64) else { return nil }
    let isPlain = name.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
    }
    guard isPlain, name.utf8.first.map({ $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: ".") }) == true else {
      report(
        node.mark,
        "a name is of small letters a to z, digits, and -, _ or . behind the first, not \(Quoted.text(name))")
      return nil
    }
    return name
  }

  /// Drivers are known here by name, so that a wrong one is found before a device comes.
  private mutating func driverName(_ node: YAMLNode) -> String? {
    word(node, "a driver", among: drivers.drivers.map(\.name))
  }

  private mutating func protocolStrings(_ node: YAMLNode) -> [String] {
    guard let elements = list(node, "protocol strings", limit: 32) else { return [] }
    var strings: [String] = []
    for element in elements {
      guard let string = text(element, "a protocol string", limit: 255) else { continue }
      guard string.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
        report(element.mark, "a protocol string is of printable ASCII without spaces, like com.example.gadget")
        continue
      }
      if strings.contains(string) { report(element.mark, "the protocol string \(Quoted.text(string)) is there twice") }
      strings.append(string)
    }
    return strings
  }

  private mutating func pacing(_ node: YAMLNode) -> Pacing? {
    if case .scalar = node.content {
      return word(node, "pacing (or {gap: 20ms}, {window: 4})", among: ["reply"]).map { _ in .reply }
    }
    guard let fields = fields(node, "pacing", KnownKeys.pacing) else { return nil }
    guard fields.count == 1 else {
      report(node.mark, "pacing is reply, {gap: 20ms} or {window: 4}")
      return nil
    }
    if let node = fields["gap"] { return time(node, "a gap", .zero ... .seconds(60)).map { .gap($0) } }
    return fields["window"].flatMap { whole($0, "a window", 1...255) }.map { .window($0) }
  }
}
