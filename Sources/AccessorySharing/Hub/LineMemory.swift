// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// A client's request to the device's line.
enum LineRequest: Sendable, Hashable {
  case change(LineChanges)
  case set(raising: ModemLines, lowering: ModemLines)
  case setBreak(Bool)
  /// A break of the usual length.
  case pulse
  case purge(LineBuffers)
  /// Read the line errors and the number of unsent bytes from the driver.
  case look

  /// Whether the request must wait until earlier bytes are sent.
  var isOrdered: Bool {
    switch self {
    case .purge, .look: false
    default: true
    }
  }
}

/// The state of the device's line, as far as is known, also while the device is gone. For a device without a line all
/// settings are accepted, as on a pseudo-terminal.
struct LineMemory: Sendable {
  /// The settings in force.
  private(set) var status = LineStatus(baudRate: 9_600)
  /// The state of DTR and RTS.
  private(set) var outputs = ModemLines.outputs
  /// The input lines that are raised.
  private(set) var inputs: ModemLines = []
  private(set) var isBreaking = false
  /// The state when the device was opened. It is restored when the last client leaves.
  private(set) var original: (status: LineStatus, outputs: ModemLines)?
  /// Whether a client has changed the state.
  private(set) var isChanged = false

  /// The device was opened with the line state `status`. Returns the requests that repeat the clients' earlier changes.
  mutating func opened(_ status: LineStatus) -> [LineRequest] {
    let (old, oldOutputs) = (self.status, outputs)
    self.status = status
    if let lines = status.modemLines { note(lines) }
    original = (status, outputs)
    isBreaking = false
    guard isChanged else { return [] }
    var requests = [LineRequest.change(LineChanges(old))]
    if status.modemLines != nil {
      requests.append(.set(raising: oldOutputs, lowering: .outputs.subtracting(oldOutputs)))
    }
    return requests
  }

  /// The requests that restore the original state.
  mutating func restoring() -> [LineRequest] {
    guard isChanged || isBreaking, let original else { return [] }
    var requests: [LineRequest] = isBreaking ? [.setBreak(false)] : []
    if isChanged {
      requests += [
        .change(LineChanges(original.status)),
        .set(raising: original.outputs, lowering: .outputs.subtracting(original.outputs)),
      ]
    }
    isChanged = false
    return requests
  }

  /// The modem lines were read.
  mutating func note(_ lines: ModemLines, keepsOutputs: Bool = false) {
    inputs = lines.subtracting(.outputs)
    if !keepsOutputs { outputs = lines.intersection(.outputs) }
  }

  /// The device is gone.
  mutating func closed() { inputs = [] }

  /// The baud rate was read back.
  mutating func note(baudRate: UInt32) { status.baudRate = baudRate }

  /// The request was carried out, or will be when the device is back.
  mutating func note(_ request: LineRequest, isRestoring: Bool = false) {
    switch request {
    case .change(let changes):
      status.apply(changes)
      isChanged = !isRestoring
    case .set(let raised, let lowered):
      outputs = outputs.subtracting(lowered).union(raised)
      isChanged = !isRestoring
    case .setBreak(let isOn): isBreaking = isOn
    case .pulse, .purge, .look: break
    }
  }
}

extension LineChanges {
  /// Changes to all settings of `status`.
  init(_ status: LineStatus) {
    self.init(
      baudRate: status.baudRate, dataBits: status.dataBits, parity: status.parity, stopBits: status.stopBits,
      flowControl: status.flowControl)
  }

  /// The changes from `old` to `new`; nil when there are none.
  init?(from old: LineStatus, to new: LineStatus) {
    self.init()
    if new.baudRate != old.baudRate, new.baudRate > 0 { baudRate = new.baudRate }
    if new.dataBits != old.dataBits { dataBits = new.dataBits }
    if new.parity != old.parity { parity = new.parity }
    if new.stopBits != old.stopBits { stopBits = new.stopBits }
    if new.flowControl != old.flowControl { flowControl = new.flowControl }
    if self == LineChanges() { return nil }
  }
}
