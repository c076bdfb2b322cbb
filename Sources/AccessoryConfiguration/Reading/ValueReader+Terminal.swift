// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

extension ValueReader {
  /// Reads the settings of a serial line. What the text leaves out stays as it is in `settings`.
  package mutating func terminal(
    _ node: YAMLNode, _ what: String, from settings: TerminalSettings = TerminalSettings()
  ) -> TerminalSettings {
    var settings = settings
    guard let fields = keys(node, TerminalKeys.tty, called: what) else { return settings }
    set(&settings.baudRate, number(fields, "baud"))
    set(&settings.dataBits, number(fields, "data_bits"))
    set(&settings.parity, choice(fields, "parity"))
    set(&settings.stopBits, number(fields, "stop_bits"))
    set(&settings.flowControl, choice(fields, "flow"))
    set(&settings.dtr, choice(fields, "dtr"))
    set(&settings.rts, choice(fields, "rts"))
    set(&settings.rs485, fields["rs485"].map { rs485($0) })
    set(&settings.lowLatency, flag(fields, "low_latency"))
    set(&settings.settle, time(fields, "settle"))
    if let rts = fields["rts"], settings.rts != .keep, settings.flowControl == .hardware {
      report(rts.mark, "rts and flow: hardware exclude each other: hardware flow control moves RTS itself")
    }
    return settings
  }

  private mutating func rs485(_ node: YAMLNode) -> TerminalConfiguration.RS485? {
    guard let fields = keys(node, TerminalKeys.rs485) else { return nil }
    var settings = TerminalConfiguration.RS485()
    set(&settings.rtsOnSend, word(fields, "rts").map { $0 == "high" })
    settings.rtsAfterSend = !settings.rtsOnSend
    set(&settings.rtsAfterSend, word(fields, "rts_after").map { $0 == "high" })
    set(&settings.delayBeforeSend, milliseconds(fields, "before"))
    set(&settings.delayAfterSend, milliseconds(fields, "after"))
    set(&settings.receivesWhileSending, flag(fields, "receive"))
    return settings
  }

  /// Reads a time in whole milliseconds, which is what the kernel accepts.
  private mutating func milliseconds(_ fields: KeyedNodes, _ name: String) -> Duration? {
    guard let node = fields[name], let time = time(fields, name) else { return nil }
    guard time.inNanoseconds.isMultiple(of: 1_000_000) else {
      report(node.mark, "\(name) must be a whole number of milliseconds, not \(kind(node))")
      return nil
    }
    return time
  }
}
