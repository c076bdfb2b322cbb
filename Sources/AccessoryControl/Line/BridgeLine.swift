// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A method for the serial line of a borrowed accessory.
package protocol LineMethod: ControlMethod {
  /// The loan's secret, from the reply to `Open`.
  var loan: String { get }
  /// Carries out the method. Throws the errors of `line`.
  func perform(on line: any LineControl) async throws(AccessoryError) -> Reply
}

// The methods of `accessorybridge.Bridge` for the serial line of a borrowed accessory.

extension Bridge {
  /// The reply to methods that return the line's state.
  package struct LineReply: CheckedReply, Codable, Sendable, Hashable {
    package var line: Line
    package init(_ status: LineStatus) { line = Line(status) }
    package func check() throws(ReplyNumberError) { try line.check() }
  }

  /// The reply to methods that return nothing.
  package struct Done: Codable, Sendable, Hashable {
    package init() {}
  }

  package struct GetLineStatus: LineMethod {
    package static let method = "accessorybridge.Bridge.LineFacts"
    package typealias Reply = LineReply

    package var loan: String
    package init(loan: String) { self.loan = loan }

    package func perform(on line: any LineControl) async throws(AccessoryError) -> LineReply {
      LineReply(try await line.status())
    }
  }

  package struct ChangeLine: LineMethod {
    package static let method = "accessorybridge.Bridge.ChangeLine"
    package typealias Reply = LineReply

    package var loan: String
    package var baud: UInt32?
    package var data_bits, stop_bits: Int?
    package var parity, flow_control: String?

    package init(loan: String, _ changes: LineChanges) {
      self.loan = loan
      baud = changes.baudRate
      data_bits = changes.dataBits
      stop_bits = changes.stopBits
      parity = changes.parity?.rawValue
      flow_control = changes.flowControl?.rawValue
    }

    package func perform(on line: any LineControl) async throws(AccessoryError) -> LineReply {
      // The interface has the same words, and its check rejects all others.
      let changes = LineChanges(
        baudRate: baud, dataBits: data_bits, parity: parity.flatMap { LineParity(rawValue: $0) }, stopBits: stop_bits,
        flowControl: flow_control.flatMap { LineFlowControl(rawValue: $0) })
      return LineReply(try await line.change(changes))
    }
  }

  package struct GetModemLines: LineMethod {
    package static let method = "accessorybridge.Bridge.ModemLines"

    package struct Reply: Codable, Sendable, Hashable {
      package var modem_lines: [String: Bool]
    }

    package var loan: String
    package init(loan: String) { self.loan = loan }

    package func perform(on line: any LineControl) async throws(AccessoryError) -> Reply {
      Reply(modem_lines: try await line.modemLines().words)
    }
  }

  package struct SetModemLines: LineMethod {
    package static let method = "accessorybridge.Bridge.SetModemLines"
    package typealias Reply = Done

    package var loan: String
    package var modem_lines: [String: Bool]

    package init(loan: String, raising raised: ModemLines, lowering lowered: ModemLines) {
      self.loan = loan
      modem_lines = lowered.words.filter(\.value).mapValues { _ in false }
        .merging(raised.words.filter(\.value)) { $1 }
    }

    package func perform(on line: any LineControl) async throws(AccessoryError) -> Done {
      if let unknown = modem_lines.keys.sorted().first(where: { ModemLines(words: [$0: true]).isEmpty }) {
        throw AccessoryError(.misconfigured, "there is no modem line \(SafeText.escape(unknown, limit: 40))")
      }
      try await line.set(
        raising: ModemLines(words: modem_lines), lowering: ModemLines(words: modem_lines.mapValues { !$0 }))
      return Done()
    }
  }

  package struct SetBreak: LineMethod {
    package static let method = "accessorybridge.Bridge.SetBreak"
    package typealias Reply = Done

    package var loan: String
    package var on: Bool

    package init(loan: String, on: Bool) { (self.loan, self.on) = (loan, on) }

    package func perform(on line: any LineControl) async throws(AccessoryError) -> Done {
      try await line.setBreak(on)
      return Done()
    }
  }

  package struct Purge: LineMethod {
    package static let method = "accessorybridge.Bridge.Purge"
    package typealias Reply = Done

    package var loan: String
    package var received, unsent: Bool

    package init(loan: String, _ buffers: LineBuffers) {
      self.loan = loan
      (received, unsent) = (buffers.contains(.received), buffers.contains(.unsent))
    }

    package func perform(on line: any LineControl) async throws(AccessoryError) -> Done {
      var buffers: LineBuffers = []
      if received { buffers.insert(.received) }
      if unsent { buffers.insert(.unsent) }
      try await line.purge(buffers)
      return Done()
    }
  }
}
