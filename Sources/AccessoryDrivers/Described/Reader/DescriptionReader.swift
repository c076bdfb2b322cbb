// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// Makes a protocol's description of its text, and says everything that is wrong with it. The language is explained in
/// Documentation/describing.md.
///
/// The reader checks all that can be known without bytes: that what is named is there and of the right kind, that each
/// frame's length can be known, that all stays within `ProtocolDescription.Limit`. What the examples say is
/// `DescriptionCheck`'s.
public struct DescriptionReader: ValueReader {
  /// Bytes that a description's text may have.
  public static var sizeLimit: Int { YAMLReader.sizeLimit }
  /// The version of the language that this reads.
  public static let version = 1

  let file: String
  var problems: [ProfileProblem] = []
  static var places: [KnownKeys.Place] { DescriptionKeys.places }

  /// What has been read so far.
  var description = ProtocolDescription(name: "")
  /// The order of numbers that don't say it themselves.
  var order = ByteOrder.bigEndian
  /// Framings of which something is wrong: what refers to their elements isn't checked, as it would be wrong, too.
  var brokenFramings: Set<Int> = []
  /// What is known of the fields of all messages and of what is derived, by name.
  var values: [String: ValueType] = [:]
  /// Whether something is wrong with some message or derived value, so that fields may be missing in `values`.
  var hasBrokenMessages = false
  /// The requests of each group of registers, by the first of them.
  var groups: [Int: Range<Int>] = [:]

  init(file: String) { self.file = file }

  /// Reads the description in a YAML text of up to 64 KiB, which is called `file` in what is wrong with it. Throws up
  /// to 20 things at a time.
  public static func read(_ bytes: [UInt8], file: String) throws(ProfileProblems) -> DescribedProtocol {
    var reader = DescriptionReader(file: file)
    do throws(YAMLError) {
      let described = reader.describedProtocol(try YAMLReader.read(bytes))
      if let described, reader.problems.isEmpty { return described }
    } catch {
      reader.report(error.mark, error.message)
    }
    throw ProfileProblems(problems: reader.sortedProblems)
  }

  /// The description in a value of a text; `name` is what it is called where it stands in something that has a name.
  mutating func describedProtocol(_ node: YAMLNode, name: String? = nil) -> DescribedProtocol? {
    let known = DescriptionKeys.description.filter { name == nil || $0 != "protocol" }
    guard let fields = fields(node, "a protocol's description", known) else { return nil }
    head(fields, node.mark, name)
    let line = fields["line"].map { terminal($0, "line") }
    if fields["modbus"] != nil || fields["registers"] != nil {
      modbus(fields, node.mark)
      if let node = fields["parameters"] { parameters(node) }
      if let node = fields["derived"] { derived(node) }
    } else {
      framings(fields["framings"], node.mark)
      if let node = fields["units"] { units(node) }
      if let node = fields["messages"] { messages(node) }
      if let node = fields["parameters"] { parameters(node) }
      if let node = fields["derived"] { derived(node) }
      if let node = fields["requests"] { requests(node) }
    }
    if let node = fields["plan"] { description.plan = plan(node) }
    if let node = fields["examples"] { examples(node) }
    return DescribedProtocol(description: description, line: line)
  }

  private mutating func head(_ fields: [String: YAMLNode], _ mark: YAMLMark, _ given: String?) {
    if let name = given {
      description.name = name
    } else if let node = fields["protocol"] {
      description.name = plainName(node, "a protocol's name") ?? ""
      if Self.builtInDrivers.contains(description.name) {
        report(node.mark, "the name \(description.name) is that of a built-in driver: call the protocol something else")
      }
    } else {
      report(mark, "the protocol's name is missing: protocol: my-gadget")
    }
    if let node = fields["version"] {
      if node.content != .scalar("\(Self.version)") {
        report(node.mark, "version is \(Self.version), the one that is known here, not \(kind(node))")
      }
    } else {
      report(mark, "the language's version is missing: version: \(Self.version)")
    }
    if let summary = fields["description"].flatMap({ text($0, "a description", limit: 200) }) {
      description.summary = summary
    }
    if let order = fields["byte_order"].flatMap({ byteOrder($0, "byte_order") }) { self.order = order }
  }

  mutating func byteOrder(_ node: YAMLNode, _ what: String) -> ByteOrder? {
    word(node, what, among: ["big", "little"]).map { $0 == "big" ? .bigEndian : .littleEndian }
  }

  /// Drivers in Swift, whose names no description takes.
  static let builtInDrivers = [
    AF1Accessory.driverName, EV3Brick.driverName, HM10Module.driverName, BlunoRobot.driverName, HM1XCar.driverName,
    MAVLinkAutopilot.driverName,
  ]
}
