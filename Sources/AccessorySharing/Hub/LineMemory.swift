// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// What a client asks of the device's line.
enum LineRequest: Sendable, Hashable {
  case change(LineChanges)
  case set(raising: ModemLines, lowering: ModemLines)
  case setBreak(Bool)
  /// A break of the usual length.
  case pulse
  case purge(LineBuffers)

  /// Whether it has to wait for bytes that were sent before.
  var isOrdered: Bool { if case .purge = self { false } else { true } }
}

/// What is in force on the device's line, as far as is known, also while the device is gone. A device without a line takes all
/// settings, as a pseudo-terminal does.
struct LineMemory: Sendable {
  /// The settings in force.
  private(set) var status = LineStatus(baudRate: 9_600)
  /// DTR and RTS, as they are driven.
  private(set) var outputs = ModemLines.outputs
  /// The inputs that are raised.
  private(set) var inputs: ModemLines = []
  private(set) var isBreaking = false
  /// As the line was when the device was opened: put back when the last client leaves.
  private(set) var original: (status: LineStatus, outputs: ModemLines)?
  /// Whether a client has changed something.
  private(set) var isChanged = false

  /// The device was opened, and has this line. Returns what clients have changed before, which is to be made again.
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

  /// What puts the line back as it was.
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

  /// The lines were read.
  mutating func note(_ lines: ModemLines) {
    inputs = lines.subtracting(.outputs)
    outputs = lines.intersection(.outputs)
  }

  /// The device is gone.
  mutating func closed() { inputs = [] }

  /// The speed was read back.
  mutating func note(baudRate: UInt32) { status.baudRate = baudRate }

  /// This was done, or will be when the device is back.
  mutating func note(_ request: LineRequest, isRestoring: Bool = false) {
    switch request {
    case .change(let changes):
      status.apply(changes)
      isChanged = !isRestoring
    case .set(let raised, let lowered):
      outputs = outputs.subtracting(lowered).union(raised)
      isChanged = !isRestoring
    case .setBreak(let isOn): isBreaking = isOn
    case .pulse, .purge: break
    }
  }
}

extension LineChanges {
  /// All settings of a line.
  init(_ status: LineStatus) {
    self.init(
      baudRate: status.baudRate, dataBits: status.dataBits, parity: status.parity, stopBits: status.stopBits,
      flowControl: status.flowControl)
  }

  /// What `new` has otherwise than `old`; nil when nothing is.
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

extension LineStatus {
  fileprivate mutating func apply(_ changes: LineChanges) {
    baudRate = changes.baudRate ?? baudRate
    dataBits = changes.dataBits ?? dataBits
    parity = changes.parity ?? parity
    stopBits = changes.stopBits ?? stopBits
    flowControl = changes.flowControl ?? flowControl
  }
}
