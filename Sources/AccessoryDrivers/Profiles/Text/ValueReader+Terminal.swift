// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryIO

extension ValueReader {
  /// Reads the settings of a serial line. What the text leaves out stays as it is in `settings`.
  mutating func terminal(
    _ node: YAMLNode, _ what: String, from settings: TerminalSettings = TerminalSettings()
  ) -> TerminalSettings {
    var settings = settings
    guard let fields = fields(node, what, KnownKeys.tty) else { return settings }
    set(&settings.baudRate, fields["baud"].flatMap { whole($0, "baud", 1...100_000_000) })
    set(&settings.dataBits, fields["data_bits"].flatMap { whole($0, "data_bits", 5...8) })
    set(&settings.parity, fields["parity"].flatMap { choice($0, "parity") })
    set(&settings.stopBits, fields["stop_bits"].flatMap { whole($0, "stop_bits", 1...2) })
    set(&settings.flowControl, fields["flow"].flatMap { choice($0, "flow") })
    set(&settings.dtr, fields["dtr"].flatMap { choice($0, "dtr") })
    set(&settings.rts, fields["rts"].flatMap { choice($0, "rts") })
    set(&settings.rs485, fields["rs485"].map { rs485($0) })
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

  /// Reads a time in whole milliseconds, which is what the kernel accepts.
  private mutating func milliseconds(_ node: YAMLNode, _ what: String) -> Duration? {
    guard let time = time(node, what, .zero ... .seconds(10)) else { return nil }
    guard time.inNanoseconds.isMultiple(of: 1_000_000) else {
      report(node.mark, "\(what) must be a whole number of milliseconds, not \(kind(node))")
      return nil
    }
    return time
  }
}
