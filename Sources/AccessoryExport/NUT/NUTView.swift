// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Answers `GET` and `LIST` from one snapshot of the readings.
struct NUTView {
  /// An accessory presented as a UPS.
  struct UPS {
    var name: String
    /// Nil if the user has named it but it isn't there, or several have the name.
    var accessory: ExportedAccessory?
    /// Whether the user has named it as a UPS.
    var isNamed = false
    var limit: LowLimit?
    /// Whether the user's name for it means several accessories.
    var isAmbiguous = false
  }

  private let readings: ReadingsSnapshot
  private let configuration: NUTSession.Configuration
  private let logins: [ExportLogin]
  private var upses: [UPS]

  init(_ readings: ReadingsSnapshot, _ configuration: NUTSession.Configuration, _ logins: [ExportLogin]) {
    (self.readings, self.configuration, self.logins) = (readings, configuration, logins)
    upses = readings.accessories.map { UPS(name: $0.name, accessory: $0) }
    for chosen in configuration.names {
      let place = place(chosen.device, orNew: chosen.name)
      // Each keeps the name that was chosen for it, so another accessory that is called so gets another one.
      for other in upses.indices where other != place && Self.isSame(upses[other].name, chosen.name) {
        let name = free(chosen.name)
        upses[other].name = name
      }
      upses[place].name = chosen.name
    }
    for name in configuration.upses {
      let new = ExportName.make(name)
      let place = place(name, orNew: upses.contains { Self.isSame($0.name, new) } ? free(new) : new)
      upses[place].isNamed = true
    }
    for owners in configuration.limits {
      for place in owners.name.map({ [found($0).place].compactMap { $0 } }) ?? Array(upses.indices) {
        upses[place].limit = owners.limit
      }
    }
  }

  // MARK: - Finding

  /// A name like `name` that no UPS has, and that wasn't chosen for one.
  private func free(_ name: String) -> String {
    ExportName.free(name, separator: "_") { name in
      upses.contains { Self.isSame($0.name, name) } || configuration.names.contains { Self.isSame($0.name, name) }
    }
  }

  /// The place of the UPS that the user means by `text`; adds one that isn't there with the name `new`.
  private mutating func place(_ text: String, orNew new: String) -> Int {
    let (place, isAmbiguous) = found(text)
    if let place { return place }
    upses.append(UPS(name: new, isAmbiguous: isAmbiguous))
    return upses.count - 1
  }

  /// The place of the UPS that has this name here, or whose device has it. A name of several means none of them, also while only one of them
  /// is there: the wrong one would be worse.
  private func found(_ text: String) -> (place: Int?, isAmbiguous: Bool) {
    let known = readings.accessories.map(\.device)
    let twins = { (device: Device) in known.count { $0.id == device.id && $0.unit == device.unit } > 1 }
    do throws(NUTSession.AmbiguousName) {
      if let place = upses.firstIndex(where: { Self.isSame($0.name, text) || $0.accessory?.id == text }) {
        let device = upses[place].accessory?.device
        guard let device, device.id == text || ExportName.make(device.id) == text else { return (place, false) }
        return twins(device) ? (nil, true) : (place, false)
      }
      let isThere = { (isConnected: Bool) in readings.accessories.filter { $0.isConnected == isConnected }.map(\.device)
      }
      guard let device = try configuration.find(text, isThere(true), isThere(false)) else { return (nil, false) }
      let isByIdentity =
        device.id.hasPrefix(text) || device.serialNumber?.hasPrefix(text) == true || text.hasPrefix("usb:")
      if isByIdentity, twins(device) { return (nil, true) }
      let accessory = readings.accessories.first { $0.device == device }
      return (upses.firstIndex { $0.accessory?.accessory.id == accessory?.accessory.id }, false)
    } catch {
      return (nil, true)
    }
  }

  /// NUT's server compares names without regard to capital letters.
  private static func isSame(_ name: String, _ other: String) -> Bool { name.lowercased() == other.lowercased() }

  /// The UPS named by the first of `count` arguments.
  func ups(_ arguments: [String], count: Int) throws(NUTError) -> UPS {
    guard arguments.count == count, let name = arguments.first else { throw .invalidArgument }
    guard let ups = upses.first(where: { Self.isSame($0.name, name) }) else { throw .unknownUPS }
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
      return UPSVariables(
        accessory, isUPS: ups.isNamed, limit: ups.limit ?? accessory.record?.lowLimit, version: configuration.version)
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
    guard let what = words.first?.uppercased() else { throw .invalidArgument }
    let arguments = Array(words.dropFirst())
    switch what {
    case "VAR":
      let variable = try variable(arguments)
      return "VAR \(arguments[0]) \(arguments[1]) \(NUTLine.quoted(variable.value))\n"
    case "TYPE":
      let variable = try variable(arguments)
      return "TYPE \(arguments[0]) \(arguments[1]) \(variable.isNumber ? "NUMBER" : "STRING:256")\n"
    case "DESC":
      _ = try ups(arguments, count: 2)
      let summary = UPSVariables.summary(of: arguments[1]) ?? "Description unavailable"
      return "DESC \(arguments[0]) \(try Self.word(arguments[1])) \(NUTLine.quoted(summary))\n"
    case "CMDDESC":
      _ = try ups(arguments, count: 2)
      return "CMDDESC \(arguments[0]) \(try Self.word(arguments[1])) \"Description unavailable\"\n"
    case "UPSDESC":
      let ups = try ups(arguments, count: 1)
      return "UPSDESC \(arguments[0]) \(Self.summary(of: ups))\n"
    case "NUMLOGINS":
      let ups = try ups(arguments, count: 1)
      return "NUMLOGINS \(arguments[0]) \(logins.count { $0.name == ups.name })\n"
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
    guard let accessory = ups.accessory else {
      return NUTLine.quoted(ups.isAmbiguous ? "several accessories have this name" : "not connected yet")
    }
    let facts = [accessory.manufacturer, accessory.model].filter { !$0.isEmpty }.joined(separator: " ")
    return NUTLine.quoted(accessory.device.given?.name ?? (facts.isEmpty ? accessory.id : facts))
  }

  // MARK: - LIST

  func list(_ words: [String]) throws(NUTError) -> String {
    guard let what = words.first?.uppercased() else { throw .invalidArgument }
    let arguments = Array(words.dropFirst())
    var lines: [String]
    switch what {
    case "UPS":
      guard arguments.isEmpty else { throw .invalidArgument }
      lines = upses.map { "UPS \($0.name) \(Self.summary(of: $0))" }
    case "VAR":
      let ups = try ups(arguments, count: 1)
      lines = try variables(of: ups).all.map { "VAR \(arguments[0]) \($0.name) \(NUTLine.quoted($0.value))" }
    case "RW", "CMD":
      // No variable is writable, and there are no commands.
      _ = try variables(of: ups(arguments, count: 1))
      lines = []
    case "ENUM", "RANGE":
      _ = try variable(arguments)
      lines = []
    case "CLIENT":
      let ups = try ups(arguments, count: 1)
      lines = logins.filter { $0.name == ups.name }.map { "CLIENT \(arguments[0]) \($0.address)" }
    default: throw .invalidArgument
    }
    let title = ([what] + arguments).joined(separator: " ")
    lines = ["BEGIN LIST \(title)"] + lines + ["END LIST \(title)"]
    return lines.joined(separator: "\n") + "\n"
  }
}
