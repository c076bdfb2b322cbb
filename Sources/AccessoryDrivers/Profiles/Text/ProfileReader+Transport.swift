// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO

extension ProfileReader {
  mutating func transport(_ node: YAMLNode) -> TransportSettings {
    var settings = TransportSettings()
    guard let fields = fields(node, "transport", KnownKeys.transport) else { return settings }
    settings.preferredTransport = fields["prefer"]
      // What is on the network has no other way.
      .flatMap { word($0, "prefer", among: [TransportKind.terminal, .usb].map(\.rawValue)) }.flatMap(TransportKind.init)
    if let node = fields["tty"] { settings.terminal = terminal(node) }
    if let node = fields["usb"] { settings.usb = usb(node) }
    return settings
  }

  private mutating func terminal(_ node: YAMLNode) -> TerminalSettings {
    var settings = TerminalSettings()
    guard let fields = fields(node, "tty", KnownKeys.tty) else { return settings }
    set(&settings.baudRate, fields["baud"].flatMap { whole($0, "baud", 1...100_000_000) })
    set(&settings.dataBits, fields["data_bits"].flatMap { whole($0, "data_bits", 5...8) })
    set(&settings.parity, fields["parity"].flatMap { choice($0, "parity") })
    set(&settings.stopBits, fields["stop_bits"].flatMap { whole($0, "stop_bits", 1...2) })
    set(&settings.flowControl, fields["flow"].flatMap { choice($0, "flow") })
    set(&settings.dtr, fields["dtr"].flatMap { choice($0, "dtr") })
    set(&settings.rts, fields["rts"].flatMap { choice($0, "rts") })
    settings.rs485 = fields["rs485"].flatMap { rs485($0) }
    set(&settings.lowLatency, fields["low_latency"].flatMap { flag($0, "low_latency") })
    set(&settings.settle, fields["settle"].flatMap { time($0, "settle", .zero ... .seconds(60)) })
    if let rts = fields["rts"], settings.rts != .keep, settings.flowControl == .hardware {
      report(rts.mark, "rts and flow: hardware exclude each other: hardware flow control moves RTS itself")
    }
    return settings
  }

  private mutating func rs485(_ node: YAMLNode) -> TerminalConfiguration.RS485? {
    guard let fields = fields(node, "rs485", KnownKeys.rs485) else { return nil }
    var settings = TerminalConfiguration.RS485()
    let levels = ["high", "low"]
    set(&settings.rtsOnSend, fields["rts"].flatMap { word($0, "rts", among: levels) }.map { $0 == "high" })
    settings.rtsAfterSend = !settings.rtsOnSend
    set(
      &settings.rtsAfterSend, fields["rts_after"].flatMap { word($0, "rts_after", among: levels) }.map { $0 == "high" })
    set(&settings.delayBeforeSend, fields["before"].flatMap { milliseconds($0, "before") })
    set(&settings.delayAfterSend, fields["after"].flatMap { milliseconds($0, "after") })
    set(&settings.receivesWhileSending, fields["receive"].flatMap { flag($0, "receive") })
    return settings
  }

  /// The kernel takes whole milliseconds.
  private mutating func milliseconds(_ node: YAMLNode, _ what: String) -> UInt32? {
    guard let time = time(node, what, .zero ... .seconds(10)) else { return nil }
    let (seconds, attoseconds) = time.components
    guard attoseconds.isMultiple(of: 1_000_000_000_000_000) else {
      report(node.mark, "\(what) is a whole number of milliseconds, not \(kind(node))")
      return nil
    }
    return UInt32(seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
  }

  private mutating func usb(_ node: YAMLNode) -> USBSettings {
    var settings = USBSettings()
    guard let fields = fields(node, "usb", KnownKeys.usb) else { return settings }
    settings.interface = fields["interface"].flatMap { whole($0, "interface", 0...255) }
    settings.alternateSetting = fields["alternate"].flatMap { whole($0, "alternate", 0...255) }
    settings.shape = fields["shape"].flatMap { choice($0, "shape") }
    if let node = fields["endpoints"], let pair = self.fields(node, "endpoints", KnownKeys.endpoints) {
      settings.inEndpoint = pair["in"].flatMap { endpoint($0, "in", 0x81...0x8F) }
      settings.outEndpoint = pair["out"].flatMap { endpoint($0, "out", 0x01...0x0F) }
    }
    return settings
  }

  private mutating func endpoint(_ node: YAMLNode, _ what: String, _ range: ClosedRange<UInt8>) -> UInt8? {
    if case .scalar(let text) = node.content, let address: UInt8 = HexNumber.read(text), range.contains(address) {
      return address
    }
    let bounds = "0x\(HexNumber.text(range.lowerBound)) to 0x\(HexNumber.text(range.upperBound))"
    report(node.mark, "\(what) is an endpoint's address, \(bounds) in hexadecimal, not \(kind(node))")
    return nil
  }

  /// Sets what was read.
  func set<Value>(_ variable: inout Value, _ value: Value?) {
    if let value { variable = value }
  }
}
