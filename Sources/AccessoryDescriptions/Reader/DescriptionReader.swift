// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryProtocols

/// Reads the text of a description, and reports all errors in it. Documentation/describing.md explains the format.
///
/// The reader checks everything that can be known without frames: that references are valid, that the length of each
/// frame can be determined, and that nothing exceeds `ProtocolDescription.Limit`. `DescriptionCheck` runs the examples.
public struct DescriptionReader: ValueReader {
  /// The size of the largest text, in bytes.
  public static var sizeLimit: Int { YAMLReader.sizeLimit }
  /// The version of the format.
  public static let version = 1

  package let file: String
  package var problems: [ProfileProblem] = []
  package static var places: [KnownKeys.Place] { DescriptionKeys.places }

  /// The description as far as it was read.
  var description = ProtocolDescription(name: "")
  /// The byte order of numbers without one of their own.
  var order = ByteOrder.bigEndian
  /// Framings with errors. References to their elements aren't checked, because they would cause further errors.
  var brokenFramings: Set<Int> = []
  /// The types of all fields and derived values, by name.
  var values: [String: ValueType] = [:]
  /// Whether a message or a derived value has an error, so that names may be missing in `values`.
  var hasBrokenMessages = false
  /// The requests of each group of registers, by the first request of the group.
  var groups: [Int: Range<Int>] = [:]

  /// Notes, which aren't errors.
  var notes: [ProfileProblem] = []

  /// The names that no protocol may have.
  private let takenNames: Set<String>
  /// Whether the description's text is kept, so that it can become a part of a profile.
  private var keepsText = false

  package init(file: String, takenNames: Set<String>) {
    self.file = file
    self.takenNames = takenNames
  }

  /// Reads a description in YAML, of up to 64 KiB. Errors name the file `file`. The protocol can't have one of `takenNames`, which belong
  /// to drivers in Swift. Throws up to 20 errors at once.
  public static func read(
    _ bytes: [UInt8], file: String, takenNames: Set<String>
  ) throws(ProfileProblems) -> DescribedProtocol {
    try read(bytes, file: file, takenNames: takenNames, keepsText: false)
  }

  /// The same; with `keepsText`, the protocol's `text` is there, so that a profile can have it as a part.
  static func read(
    _ bytes: [UInt8], file: String, takenNames: Set<String>, keepsText: Bool
  ) throws(ProfileProblems) -> DescribedProtocol {
    var reader = DescriptionReader(file: file, takenNames: takenNames)
    reader.keepsText = keepsText
    return try reader.read(yaml: bytes) { $0.describedProtocol($1) }
  }

  /// Reads a description from a YAML node. `name` is the protocol's name when the node is part of a profile, which names it.
  package mutating func describedProtocol(_ node: YAMLNode, name: String? = nil) -> DescribedProtocol? {
    var old = OldNames()
    let node = old.renewed(node)
    guard old.problems.isEmpty else {
      // Further errors would only follow from these.
      for problem in old.problems { report(problem.mark, problem.message) }
      return nil
    }
    let table = name == nil ? DescriptionKeys.description : DescriptionKeys.partOfProfile
    guard let fields = keys(node, table) else { return nil }
    head(fields, name)
    let line = fields["line"].map { terminal($0, "line") }
    if let node = fields["bluetooth"] { description.bluetooth = bluetooth(node) }
    if let node = fields["advertisement"] { description.advertisement = advertisement(node, fields) }
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
    plausible(fields["plausible"])
    if let node = fields["plan"] { description.plan = plan(node) }
    impliedImportance()
    if let node = fields["examples"] { examples(node) }
    if let raw: RawBytes = choice(fields, "raw") { self.raw(raw, fields["raw"]?.mark ?? node.mark) }
    var described = DescribedProtocol(description: description, line: line)
    if keepsText, case .mapping(let entries) = node.content {
      // A profile has the name.
      var part = node
      part.content = .mapping(entries.filter { DescriptionKeys.partOfProfile[$0.key] != nil })
      described.text = YAMLText.text(part, indentation: 2)
    }
    for note in old.notes { self.note(note.mark, note.message) }
    described.notes = notes.sorted { ($0.line ?? 0, $0.column ?? 0) < ($1.line ?? 0, $1.column ?? 0) }
    return described
  }

  /// Adds a note, unless there are too many.
  mutating func note(_ mark: YAMLMark, _ message: String) {
    guard notes.count < Self.problemLimit else { return }
    notes.append(ProfileProblem(file: file, line: mark.line, column: mark.column, message: message))
  }

  private mutating func head(_ fields: KeyedNodes, _ given: String?) {
    if let name = given {
      description.name = name
    } else if let node = fields["protocol"] {
      description.name = plainName(node, "a protocol's name") ?? ""
      if takenNames.contains(description.name) {
        report(node.mark, "the name \(description.name) belongs to a built-in driver: give the protocol another name")
      }
    }
    if let node = fields["version"], node.content != .scalar("\(Self.version)") {
      report(node.mark, "version must be \(Self.version), the only one that is supported, not \(kind(node))")
    }
    set(&description.summary, text(fields, "description"))
    set(&order, byteOrder(fields, "byte_order"))
  }

  /// Takes whether raw bytes are harmless. Reports `harmless` in a description that marks bytes as writes.
  private mutating func raw(_ raw: RawBytes, _ mark: YAMLMark) {
    if raw == .harmless, description.marksWrites {
      report(mark, "raw: harmless contradicts write: true: raw bytes may be such a write")
    }
    description.rawBytes = raw
  }

  mutating func byteOrder(_ fields: KeyedNodes, _ name: String) -> ByteOrder? {
    word(fields, name).map { $0 == "big" ? .bigEndian : .littleEndian }
  }

  mutating func nanoseconds(_ fields: KeyedNodes, _ name: String) -> Int64? { time(fields, name).map(\.inNanoseconds) }
}
