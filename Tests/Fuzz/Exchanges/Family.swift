// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import AccessoryLink
import AccessoryProtocols
import AccessorySimulator
import FamilyAF1
import FamilyAF1Simulator
import FamilyBluno
import FamilyBlunoSimulator
import FamilyEV3
import FamilyEV3Simulator
import FamilyHM10
import FamilyHM10Simulator
import FamilyHM1X
import FamilyMAVLink
import FamilyMAVLinkSimulator

/// A protocol whose driver is fuzzed.
enum Family {
  case af1, ev3, hm10, bluno, hm1x, mavlink, lines
  /// One that a file describes.
  case described(ProtocolDescription)

  /// The family that a driver of this name speaks with; `lines` has none.
  init?(_ name: String) {
    switch name {
    case "framed": self = .af1
    case "ev3": self = .ev3
    case "hm10": self = .hm10
    case "bluno": self = .bluno
    case "hm1x": self = .hm1x
    case "mavlink": self = .mavlink
    case "lines": self = .lines
    default:
      guard let described = DescriptionLibrary.builtIn.described(name) else { return nil }
      self = .described(described.description)
    }
  }

  var isEV3: Bool { if case .ev3 = self { true } else { false } }

  /// The driver's name.
  var name: String {
    switch self {
    case .af1: "framed"
    case .ev3: "ev3"
    case .hm10: "hm10"
    case .bluno: "bluno"
    case .hm1x: "hm1x"
    case .mavlink: "mavlink"
    case .lines: "lines"
    case .described(let description): description.name
    }
  }
}

/// The device as it should be, which the input lets answer when it likes, and whose answers it spoils.
struct WellBehaved {
  private let family: Family
  private var af1 = AF1Device(AF1Device.Configuration(), bootID: 7)
  private var af1Codec = AF1Codec(maximumPayload: 65_535)
  private var ev3 = EV3Device(EV3Device.Configuration())
  private var ev3Codec = EV3Limits.codec
  private var hm10 = HM10Device()
  private var bluno = BlunoDevice()
  private var autopilot = MAVLinkDevice()
  private var autopilotCodec = MAVLinkCodec()
  private var described: DescribedDevice?
  /// Of AF1 and EV3: the last request, for answers that are made up.
  private var lastRequest: AF1Header?
  private var lastMessage: EV3Message?

  init(_ family: Family) {
    self.family = family
    if case .mavlink = family { _ = autopilot.start() }
    if case .described(let description) = family {
      described = try? DescribedDevice(description, serialNumber: "1")
      _ = described?.start()
    }
  }

  /// What it answers to what was written.
  mutating func answer(_ bytes: [UInt8], now: MonotonicTime) -> [UInt8] {
    switch family {
    case .af1: return answerAF1(bytes, now)
    case .ev3: return answerEV3(bytes, now)
    case .hm10:
      let effects = hm10.take(bytes)
      var all: [UInt8] = []
      for case .send(let reply) in effects { all += hm10.bytes(of: reply) }
      return all
    case .bluno:
      var all: [UInt8] = []
      for case .send(let bytes) in bluno.take(bytes) { all += bytes }
      return all
    case .mavlink:
      // What it is asked for, and what it sends by itself.
      return sent(autopilot.take(bytes)) + sent(autopilot.perform(.beat)) + sent(autopilot.perform(.push))
    case .hm1x, .lines: return bytes
    case .described: return answerDescribed(bytes)
    }
  }

  private func sent(_ effects: [SerialEffect<MAVLinkDevice>]) -> [UInt8] {
    effects.flatMap { if case .send(let bytes) = $0 { bytes } else { [UInt8]() } }
  }

  /// A frame of a message that is known, from the autopilot, a part of it or somebody else, with contents that the input
  /// makes up; or what the autopilot sends when it has other quirks.
  private mutating func madeUpMAVLink(_ kind: UInt8, _ contents: [UInt8], _ script: inout Script) -> [UInt8] {
    if kind & 7 == 0 {
      let quirks = MAVLinkDevice.Quirk.allCases
      autopilot.configuration.quirks = [quirks[Int(kind / 8) % quirks.count]]
      autopilot.configuration.version = kind & 0x80 == 0 ? .two : .one
      autopilot.configuration.batteries = script.number(below: 17)
      autopilot.configuration.cells = script.number(below: 15)
      autopilot.configuration.percent = script.number(below: 101)
      return sent(autopilot.perform(.beat)) + sent(autopilot.perform(.push))
    }
    let number = Self.autopilotMessages[Int(kind / 8) % Self.autopilotMessages.count]
    var header = MAVLinkHeader(
      number, version: kind & 1 == 0 ? .two : .one, sequence: script.byte(), system: kind & 2 == 0 ? 1 : script.byte(),
      component: kind & 4 == 0 ? 1 : script.byte())
    // Payloads of version 1 have one length only.
    if header.version == .one, number > 255 { header.version = .two }
    let size = header.version == .one ? MAVLinkTable.definition(of: number)?.baseByteCount ?? 0 : max(1, contents.count)
    let payload = Array((contents + [UInt8](repeating: kind, count: size)).prefix(size))
    var frame: [UInt8] = []
    try? autopilotCodec.encode(header, payload: payload, into: &frame)
    return frame
  }

  private static let autopilotMessages: [UInt32] = [
    MAVLinkHeartbeat.number, MAVLinkSystemStatus.number, MAVLinkBatteryStatus.number, MAVLinkBatteryInfo.number,
    MAVLinkAutopilotVersion.number, MAVLinkStatusText.number, MAVLinkAcknowledgement.number,
  ]

  private mutating func answerDescribed(_ bytes: [UInt8]) -> [UInt8] {
    var all: [UInt8] = []
    for case .send(let reply) in described?.take(bytes) ?? [] { all += reply }
    return all
  }

  /// A message of a description with values that the input makes up, or an example's bytes.
  private mutating func madeUpDescribed(
    _ description: ProtocolDescription, _ kind: UInt8, _ contents: [UInt8], _ script: inout Script
  ) -> [UInt8] {
    let examples = description.examples
    if kind & 1 == 0, !examples.isEmpty { return examples[Int(kind / 2) % examples.count].received }
    let fields = description.messages.flatMap(\.fields)
    if !fields.isEmpty {
      for _ in 0..<1 + Int(kind & 7) {
        try? described?.set(fields[script.number(below: fields.count)].name, to: script.value())
      }
    }
    if kind & 2 == 0, !examples.isEmpty { described?.take(example: Int(kind / 4) % examples.count) }
    if kind & 4 == 0, !description.messages.isEmpty {
      let effects = described?.perform(.push(Int(kind / 8) % description.messages.count)) ?? []
      for case .send(let bytes) in effects { return bytes + contents.prefix(Int(kind & 8)) }
    }
    return contents
  }

  private mutating func answerAF1(_ bytes: [UInt8], _ now: MonotonicTime) -> [UInt8] {
    var batch = FrameBatch<AF1Header>()
    af1Codec.decode(bytes.span.bytes, into: &batch)
    var all: [UInt8] = []
    for index in 0..<batch.count {
      let header = batch.header(at: index)
      lastRequest = header
      let payload = batch.payloadBytes(at: index)
      let reply = af1.answer(header, batch.outcome(at: index), payload: payload, now: now)
      if let reply { Self.append(reply.header, reply.payload, to: &all) }
    }
    return all
  }

  private static func append(_ header: AF1Header, _ payload: [UInt8], to all: inout [UInt8]) {
    try? AF1Codec(maximumPayload: 65_535).encode(header, payload: payload, into: &all)
  }

  private mutating func answerEV3(_ bytes: [UInt8], _ now: MonotonicTime) -> [UInt8] {
    var batch = FrameBatch<LengthPrefix>()
    ev3Codec.decode(bytes.span.bytes, into: &batch)
    var all: [UInt8] = []
    for index in 0..<batch.count {
      guard let message = try? EV3Message(decoding: batch.payloadBytes(at: index)) else { continue }
      lastMessage = message
      for reply in ev3.take(message, now: now) { all += (try? reply.encoded()) ?? [] }
    }
    return all
  }

  /// An answer in the right form, to the last request, with contents that the input makes up.
  mutating func madeUp(_ written: [UInt8], _ script: inout Script, now: MonotonicTime) -> [UInt8] {
    _ = answer(written, now: now)
    let kind = script.byte()
    let contents = script.take(script.number(below: 40))
    switch family {
    case .af1:
      var all: [UInt8] = []
      let request = lastRequest ?? .request(.echo, number: 0)
      switch kind % 4 {
      case 0: Self.append(.refusal(of: request), contents, to: &all)
      case 1:
        let commands: [AF1Command] = [.battery, .status, .echo]
        Self.append(.event(commands[Int(kind / 4) % 3], number: UInt16(kind / 12)), contents, to: &all)
      default: Self.append(.reply(to: request), contents, to: &all)
      }
      return all
    case .ev3:
      let types: [EV3MessageType] = [.systemReply, .systemError, .directReply, .directError]
      let number = (lastMessage?.number ?? 0) &- (kind & 0x80 == 0 ? 0 : 1)
      let code: [UInt8] = kind % 4 < 2 ? [lastMessage?.body.first ?? 0] : []
      return (try? EV3Message(number: number, type: types[Int(kind % 4)], body: code + contents).encoded()) ?? []
    case .hm10: return Array(Self.hm10Texts[Int(kind) % Self.hm10Texts.count].utf8) + contents
    case .bluno, .lines: return Array(Self.lines[Int(kind) % Self.lines.count].utf8) + contents + [13, 10]
    case .hm1x: return contents
    case .mavlink: return madeUpMAVLink(kind, contents, &script)
    case .described(let description): return madeUpDescribed(description, kind, contents, &script)
    }
  }

  private static let hm10Texts = [
    "OK", "OK\r\n", "OK+LOST", "OK+CONN", "OK+CONNA", "OK+CONNE", "OK+CONNF", "OK+CONNN", "OK+CONN0", "OK+CONNL",
    "OK+CONN:0017EA090909", "OK+DISCS", "OK+DISCE", "OK+DIS0:0017EA090909", "OK+DISC:0017EA090909", "OK+DISIS",
    "OK+DISAS",
    "OK+DISA:0017EA090909", "OK+RSSI:-062", "OK+NAME:HMSoft\r\n", "OK+Get:1", "OK+Set:1", "OK+BATT:050", "OK+Get:099",
    "OK+ADDR:0017EA090909", "HMSoft V540", "OK+RESET", "OK+RENEW", "+NAME=BT05\r\n", "ERROR=102\r\n", "OK+WAKE", "",
  ]
  private static let lines = ["OK", "+++", "Enter AT Mode", "Exit AT Mode", "V1.97", "ERROR", "-000", "", "0x00", "\n"]
}
