// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols

/// Describes the commands and replies of an HM-10 in words.
enum HM10Words {
  static let name = "HM-10"

  /// The text of a command, without the line end.
  private static func wire(_ bytes: [UInt8]) -> String { String(decoding: bytes.withoutLineEnd, as: UTF8.self) }

  /// Describes bytes between the two sides of a connection.
  static func data(_ bytes: [UInt8]) -> FrameWords {
    FrameWords(
      name, "data", title: "data", summary: "\(Amount.bytes(bytes.count)) \(FrameWords.quoted(bytes))",
      fields: [.init("data_bytes", bytes.count)])
  }

  // MARK: - Commands

  /// Describes a command.
  static func command(_ command: HM10Command, _ bytes: [UInt8]) -> FrameWords {
    let wire = wire(bytes)
    var words = FrameWords(name, "request", title: "request \(SafeText.escape(wire, limit: 90))", command: wire)
    switch command {
    case .attention: words.summary = "is anybody there?"
    case .address: words.summary = "its address?"
    case .lastAddress: words.summary = "the address of the last connection?"
    case .name: words.summary = "its name?"
    case .setName(let text):
      words.summary = "call it \(FrameWords.quoted(text))"
      words.fields = [.init("name", text)]
    case .version: words.summary = "its version?"
    case .battery: words.summary = "its battery?"
    case .signalStrength: words.summary = "the connection's signal strength?"
    case .ask(let setting):
      words.summary = "\(Self.name(of: setting))?"
      words.fields = [.init("setting", setting.rawValue)]
    case .set(let setting, let value):
      words.summary = "set \(Self.name(of: setting)) to \(text(of: setting, value))"
      words.fields = [.init("setting", setting.rawValue), .init("value", value)]
    case .start: words.summary = "begin to work"
    case .discover: words.summary = "scan for devices"
    case .discoverBeacons: words.summary = "scan for iBeacons"
    case .discoverAdvertisements: words.summary = "scan for advertisements"
    case .connectIndex(let index):
      words.summary = "connect to number \(index) of the last scan"
      words.fields = [.init("index", index)]
    case .connect(let address, let isDual):
      words.summary = "connect to \(address)\(isDual ? ", of dual mode" : "")"
      words.fields = [.init("address", "\(address)")]
    case .connectLast: words.summary = "connect to the device of the last time"
    case .clear: words.summary = "forget the device of the last time"
    case .sleep: words.summary = "sleep"
    case .renew: words.summary = "back to the factory's settings"
    case .reset: words.summary = "restart"
    case .help: words.summary = "which commands are there?"
    case .other: break
    }
    return words
  }

  /// A setting's name, in words.
  private static func name(of setting: HM10Setting) -> String {
    switch setting {
    case .notify: "telling of connections"
    case .notifyAddress: "telling the address with it"
    case .role: "role"
    case .immediate: "waiting for commands at the start"
    case .speed: "speed"
    case .mode: "mode"
    case .type: "use of the PIN"
    case .power: "power"
    case .parity: "parity"
    case .stopBits: "stop bits"
    case .show: "what a scan shows"
    case .scanTime: "seconds of a scan"
    case .connectTime: "milliseconds of connecting"
    case .pin: "PIN"
    case .service: "service"
    case .characteristic: "characteristic"
    }
  }

  /// A setting's value, in words.
  private static func text(of setting: HM10Setting, _ value: Int) -> String {
    let meaning: String? =
      switch setting {
      case .role: HM10Role(rawValue: value).map { "\($0)" }
      case .power: HM10Power(rawValue: value).map { "\($0.decibels) dBm" }
      case .parity: HM10Parity(rawValue: value).map { "\($0)" }
      case .stopBits: "\(value + 1)"
      case .speed: HM10Speed(rawValue: value).map { "\($0.bitsPerSecond) bits a second" }
      case .service, .characteristic: "0x" + Hexadecimal.string(UInt16(clamping: value))
      default: nil
      }
    return meaning.map { "\(value) (\($0))" } ?? "\(value)"
  }

  // MARK: - Replies

  /// Describes a reply; `asked` is the last command.
  static func reply(_ reply: HM10Reply, _ bytes: [UInt8], to asked: HM10Command?) -> FrameWords {
    let wire = wire(bytes)
    let title = SafeText.escape(wire, limit: 60)
    var words = FrameWords(name, "reply", title: "reply \(title)", command: wire)
    func event(_ kind: String = "event") { (words.kind, words.title) = (kind, "\(kind) \(title)") }
    switch reply {
    case .ok: words.summary = "done"
    case .acknowledged(let word): words.summary = "\(word)"
    case .get(let text), .set(let text), .value(_, let text), .clone(_, let text):
      (words.summary, words.fields) = value(reply, text, to: asked)
    case .address(let address), .lastAddress(let address):
      words.summary = "address \(address)"
      words.fields = [.init("address", "\(address)")]
    case .name(let text):
      words.summary = "name \(FrameWords.quoted(text))"
      words.fields = [.init("name", text)]
    case .battery(let percent): (words.summary, words.fields) = battery(percent)
    case .signalStrength(let strength):
      words.summary = "signal \(strength) dBm"
      words.fields = [.init("rssi_dbm", strength)]
    case .connection(let connection):
      event()
      (words.summary, words.fields) = Self.connection(connection)
      if [.error, .failed, .noAddress].contains(connection) {
        event("refusal")
        words.isRefusal = true
      }
    case .lost:
      event()
      words.summary = "the connection is lost"
    case .discovery(let discovery):
      event()
      (words.summary, words.fields) = Self.discovery(discovery)
    case .text:
      words.title = "reply"
      words.summary = FrameWords.quoted(bytes.withoutLineEnd)
      words.fields = [.init("text", wire)]
    }
    return words
  }

  private static func battery(_ percent: Int) -> (String, [FrameField]) {
    ("battery \(percent) %", FrameField.battery(.percent, percent))
  }

  private static func value(
    _ reply: HM10Reply, _ text: String, to asked: HM10Command?
  ) -> (String, [FrameField]) {
    if asked == .battery, let percent = reply.batteryPercent { return battery(percent) }
    let setting: HM10Setting? =
      switch asked {
      case .ask(let setting)?, .set(let setting, _)?: setting
      default: nil
      }
    if let setting, let value = setting.value(of: reply) {
      return (
        "\(name(of: setting)) \(Self.text(of: setting, value))",
        [.init("setting", setting.rawValue), .init("value", value)]
      )
    }
    switch reply {
    case .value(let name, _), .clone(let name, _):
      return ("\(SafeText.escape(name)) \(FrameWords.quoted(text))", [.init("name", name), .init("text", text)])
    case .set where asked.map { if case .setName = $0 { true } else { false } } == true:
      return ("name \(FrameWords.quoted(text))", [.init("name", text)])
    default: return (FrameWords.quoted(text), [.init("text", text)])
    }
  }

  private static func connection(_ connection: HM10Reply.Connection) -> (String, [FrameField]) {
    switch connection {
    case .made(let address):
      ("connected" + (address.map { " to \($0)" } ?? ""), address.map { [.init("address", "\($0)")] } ?? [])
    case .accepted: ("connecting", [])
    case .tryingIndex(let index): ("connecting to number \(index)", [.init("index", index)])
    case .tryingLast: ("connecting to the device of the last time", [])
    case .noAddress: ("there is no device of a last time", [])
    case .error: ("it doesn't connect", [])
    case .failed: ("connecting failed", [])
    }
  }

  private static func discovery(_ discovery: HM10Reply.Discovery) -> (String, [FrameField]) {
    switch discovery {
    case .began: return ("the scan begins", [])
    case .ended: return ("the scan is over", [])
    case .found(let address, let type):
      let more: [FrameField] = type.map { [.init("address_type", $0)] } ?? []
      return ("found \(address)", [.init("address", "\(address)")] + more)
    case .beacon(let beacon):
      return (
        "iBeacon \(beacon.address), \(beacon.major)/\(beacon.minor), signal \(beacon.signalStrength) dBm",
        [
          .init("address", "\(beacon.address)"), .init("uuid", Hexadecimal.string(beacon.uuid)),
          .init("major", beacon.major), .init("minor", beacon.minor), .init("rssi_dbm", beacon.signalStrength),
        ]
      )
    case .advertisement(let advertisement):
      return (
        "advertisement of \(advertisement.address), signal \(advertisement.signalStrength) dBm",
        [.init("address", "\(advertisement.address)"), .init("rssi_dbm", advertisement.signalStrength)]
      )
    }
  }
}
