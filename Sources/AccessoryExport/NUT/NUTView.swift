// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Answers `GET` and `LIST` from one snapshot of the readings.
struct NUTView {
  /// An accessory presented as a UPS.
  struct UPS {
    var name: String
    /// Nil if the user has named it but it hasn't been connected yet.
    var accessory: ExportedAccessory?
    /// Whether the user has named it as a UPS.
    var isNamed: Bool
  }

  private let readings: ReadingsSnapshot
  private let configuration: NUTSession.Configuration
  private let logins: [ExportLogin]

  init(_ readings: ReadingsSnapshot, _ configuration: NUTSession.Configuration, _ logins: [ExportLogin]) {
    (self.readings, self.configuration, self.logins) = (readings, configuration, logins)
  }

  // MARK: - Finding

  private var upses: [UPS] {
    var all = readings.accessories.map { accessory in
      UPS(name: accessory.name, accessory: accessory, isNamed: isNamed(accessory))
    }
    for named in configuration.upses where !readings.accessories.contains(where: { $0.isCalled(named) }) {
      let name = ExportName.make(named)
      if !all.contains(where: { $0.name == name }) { all.append(UPS(name: name, accessory: nil, isNamed: true)) }
    }
    return all
  }

  private func isNamed(_ accessory: ExportedAccessory) -> Bool {
    configuration.upses.contains { accessory.isCalled($0) }
  }

  /// The UPS named by the first of `count` arguments.
  func ups(_ arguments: [String], count: Int) throws(NUTError) -> UPS {
    guard arguments.count == count, let name = arguments.first else { throw .invalidArgument }
    guard let ups = upses.first(where: { $0.name == name }) else { throw .unknownUPS }
    return ups
  }

  private func variables(of ups: UPS) throws(NUTError) -> UPSVariables {
    guard let accessory = ups.accessory else { throw .driverNotConnected }
    switch readings.freshness(of: accessory) {
    case .gone: throw .driverNotConnected
    case .stale: throw .dataStale
    case .fresh:
      // Without an answer to what says so, nobody knows whether the machine runs on battery power.
      if ups.isNamed, accessory.missing != nil, !UPSStatus.isKnown(of: accessory) { throw .dataStale }
      return UPSVariables(accessory, isUPS: ups.isNamed, version: configuration.version)
    }
  }

  /// The variable named by two arguments: the UPS and the variable.
  func variable(_ arguments: [String]) throws(NUTError) -> UPSVariable {
    let ups = try ups(arguments, count: 2)
    guard let variable = try variables(of: ups)[arguments[1]] else { throw .variableNotSupported }
    return variable
  }

  // MARK: - GET

  func get(_ words: [String]) throws(NUTError) -> String {
    guard let what = words.first else { throw .invalidArgument }
    let arguments = Array(words.dropFirst())
    switch what {
    case "VAR":
      let variable = try variable(arguments)
      return "VAR \(arguments[0]) \(variable.name) \(NUTLine.quoted(variable.value))\n"
    case "TYPE":
      let variable = try variable(arguments)
      return "TYPE \(arguments[0]) \(variable.name) \(variable.isNumber ? "NUMBER" : "STRING:256")\n"
    case "DESC":
      _ = try ups(arguments, count: 2)
      let summary = UPSVariables.summary(of: arguments[1]) ?? "Description unavailable"
      return "DESC \(arguments[0]) \(try Self.word(arguments[1])) \(NUTLine.quoted(summary))\n"
    case "CMDDESC":
      _ = try ups(arguments, count: 2)
      return "CMDDESC \(arguments[0]) \(try Self.word(arguments[1])) \"Description unavailable\"\n"
    case "UPSDESC":
      let ups = try ups(arguments, count: 1)
      return "UPSDESC \(ups.name) \(Self.summary(of: ups))\n"
    case "NUMLOGINS":
      let ups = try ups(arguments, count: 1)
      return "NUMLOGINS \(ups.name) \(logins.count { $0.name == ups.name })\n"
    default: throw .invalidArgument
    }
  }

  /// Returns a client's word for use in a reply. Throws if it would need quotation marks.
  private static func word(_ text: String) throws(NUTError) -> String {
    guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") })
    else {
      throw .invalidArgument
    }
    return text
  }

  private static func summary(of ups: UPS) -> String {
    guard let accessory = ups.accessory else { return NUTLine.quoted("not connected yet") }
    let facts = [accessory.manufacturer, accessory.model].filter { !$0.isEmpty }.joined(separator: " ")
    return NUTLine.quoted(facts.isEmpty ? accessory.id : facts)
  }

  // MARK: - LIST

  func list(_ words: [String]) throws(NUTError) -> String {
    guard let what = words.first else { throw .invalidArgument }
    let arguments = Array(words.dropFirst())
    var lines: [String]
    switch what {
    case "UPS":
      guard arguments.isEmpty else { throw .invalidArgument }
      lines = upses.map { "UPS \($0.name) \(Self.summary(of: $0))" }
    case "VAR":
      let ups = try ups(arguments, count: 1)
      lines = try variables(of: ups).all.map { "VAR \(ups.name) \($0.name) \(NUTLine.quoted($0.value))" }
    case "RW", "CMD":
      // No variable is writable, and there are no commands.
      _ = try variables(of: ups(arguments, count: 1))
      lines = []
    case "ENUM", "RANGE":
      _ = try variable(arguments)
      lines = []
    case "CLIENT":
      let ups = try ups(arguments, count: 1)
      lines = logins.filter { $0.name == ups.name }.map { "CLIENT \(ups.name) \($0.address)" }
    default: throw .invalidArgument
    }
    let title = ([what] + arguments).joined(separator: " ")
    lines = ["BEGIN LIST \(title)"] + lines + ["END LIST \(title)"]
    return lines.joined(separator: "\n") + "\n"
  }
}

extension ExportedAccessory {
  /// Whether `text` names the accessory: its id, or its name in the protocol.
  func isCalled(_ text: String) -> Bool { id == text || name == text }
}
