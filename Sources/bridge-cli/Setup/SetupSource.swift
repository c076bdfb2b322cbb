// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import ArgumentParser
import CommandOutput
import SystemPackage

/// A UPS of NUT's ups.conf, and whether a driver here can take it over.
struct NUTSection: Hashable {
  var name: String
  var values: [String: String] = [:]

  var driver: String { values["driver"] ?? "no driver" }

  /// What is known here of a driver of NUT's.
  enum Verdict: Hashable {
    /// The kind that speaks its protocol.
    case kind(String)
    case no(String)
  }

  /// The dialects of nutdrv_qx whose request is Q1.
  private static let dialects: Set<String> = ["megatec", "q1", "zinto"]

  var verdict: Verdict {
    let isSerial = values["port"]?.hasPrefix("/dev/") == true
    switch driver {
    case "usbhid-ups": return .kind("hid-power")
    case "blazer_ser", "nutdrv_qx":
      guard isSerial else {
        return .no("only UPSs at a serial port of this machine are known here, not those behind a USB converter")
      }
      if let dialect = values["protocol"]?.lowercased(), !Self.dialects.contains(dialect) {
        return .no(
          "the dialect \(SafeText.escape(dialect, limit: 40)) isn't known here; of nutdrv_qx megatec, q1 and zinto are")
      }
      return .kind("megatec")
    case "blazer_usb": return .no("its USB converter isn't known here")
    case "apcsmart", "apcsmart-old":
      return .no("APC's serial protocol isn't known here; a UPS of APC with a USB port is")
    case "no driver": return .no("it names no driver")
    default: return .no("no driver here does what \(SafeText.escape(driver, limit: 40)) does")
    }
  }

  /// The sections of a file. Lines that are none, and what comes before the first section, are left out.
  static func read(_ text: String) -> [NUTSection] {
    var sections: [NUTSection] = []
    for line in text.split(whereSeparator: \.isNewline).prefix(10_000) {
      let line = trimmed(line.prefix { $0 != "#" })
      if line.hasPrefix("["), let end = line.firstIndex(of: "]") {
        sections.append(NUTSection(name: trimmed(line[line.index(after: line.startIndex)..<end])))
      } else if let equals = line.firstIndex(of: "="), !sections.isEmpty {
        let value = trimmed(line[line.index(after: equals)...])
        let isQuoted = value.count > 1 && value.hasPrefix("\"") && value.hasSuffix("\"")
        sections[sections.count - 1].values[trimmed(line[..<equals]).lowercased()] =
          isQuoted ? String(value.dropFirst().dropLast()) : value
      }
    }
    return sections
  }

  private static func trimmed(_ text: some StringProtocol) -> String {
    String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
  }

  /// Whether a UPS on USB is the one that the section means.
  func fits(_ device: Device) -> Bool {
    func fits(_ key: String, _ number: UInt16?) -> Bool {
      guard let wanted = values[key] else { return true }
      return number.map { HexNumber.text($0) == wanted.lowercased() } == true
    }
    guard fits("vendorid", device.usb?.vendorID), fits("productid", device.usb?.productID) else { return false }
    return values["serial"].map { $0 == device.serialNumber } ?? true
  }
}

/// Answers questions of a setup from NUT's ups.conf.
struct SetupSource {
  private let path: String
  private let questions: SetupQuestions

  init(_ path: String, questions: SetupQuestions) { (self.path, self.questions) = (path, questions) }

  func answer(_ options: inout SetupCommand) async throws {
    let bytes = try await SetupQueue(label: "ups.conf").run { [path] () throws(AccessoryError) -> [UInt8] in
      do throws(Errno) { return try SmallFile.read(path, limit: 1 << 20) } catch {
        throw AccessoryError(errno: error, "reading \(path)")
      }
    }
    let sections = NUTSection.read(String(decoding: bytes, as: UTF8.self))
    for section in sections {
      let name = "\(SafeText.escape(section.name, limit: 64)) (\(SafeText.escape(section.driver, limit: 40)))"
      switch section.verdict {
      case .kind(let kind): Output.note("\(name): can be taken over, by the driver \(kind)")
      case .no(let reason): Output.note("\(name): can't be taken over: \(reason)")
      }
    }
    let taken = sections.filter { if case .kind = $0.verdict { true } else { false } }
    let section = try await chosen(taken, options.device.text)
    guard case .kind(let kind) = section.verdict else { return }
    options.device.text = try await place(section, kind)
    options.driver = options.driver ?? kind
    options.name = options.name ?? SetupName.of(section.name)
    options.show = options.show ?? SetupOutlet.nut.rawValue
    Output.note(
      "NUT's own driver must not have it open at the same time, and NUT's server has the same port: "
        + "sudo systemctl disable --now nut-server nut-driver@\(SafeText.escape(section.name, limit: 64))")
  }

  private func chosen(_ sections: [NUTSection], _ name: String?) async throws -> NUTSection {
    guard let first = sections.first else {
      throw AccessoryError(.unsupported, "nothing in \(path) can be taken over, so nothing was written")
    }
    if let name {
      guard let section = sections.first(where: { $0.name == name }) else {
        throw UsageError("\(path) has no UPS \(SafeText.escape(name, limit: 64)) that can be taken over")
      }
      return section
    }
    if sections.count == 1 { return first }
    guard questions.isAsking else {
      throw UsageError("there are several: name the one, like setup \(first.name) --from \(path)")
    }
    return try await questions.ask("Which one?", usual: first.name) { answer in
      guard let section = sections.first(where: { $0.name == answer }) else {
        throw WrongAnswer("Type one of \(sections.map(\.name).joined(separator: ", ")).")
      }
      return section
    }
  }

  /// The place of its device: the port, or that of the UPS on USB.
  private func place(_ section: NUTSection, _ kind: String) async throws -> String {
    if let port = section.values["port"], port.hasPrefix("/dev/"), kind != "hid-power" { return port }
    let store = await KnownProfiles.store
    let fitting = try await KnownDevices.source().devices().filter { device in
      store.profile(for: device)?.driver == kind && section.fits(device)
    }
    guard let only = fitting.first, fitting.count == 1 else {
      throw AccessoryError(
        .notFound,
        fitting.isEmpty
          ? "the UPS \(section.name) isn't plugged in, so nothing was written"
          : "several UPSs are plugged in that \(section.name) could be: add vendorid, productid or serial to \(path)")
    }
    return only.place
  }
}
