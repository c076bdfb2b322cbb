// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

extension LineMemory {
  private static let parities: [LineParity] = [.none, .odd, .even, .mark, .space]
  private static let flows: [LineFlowControl] = [.none, .software, .hardware]

  /// The request of a client's message to the line; nil where the message only asks for a value, or for something that
  /// no line supports.
  func request(_ message: COMPortMessage) -> LineRequest? {
    switch message {
    case .baudRate(let rate): return rate == 0 ? nil : .change(LineChanges(baudRate: rate))
    case .baudCode(let code):
      return COMPortBaudCodes.rates[code].map { .change(LineChanges(baudRate: $0)) }
    case .dataSize(let bits): return (5...8).contains(bits) ? .change(LineChanges(dataBits: Int(bits))) : nil
    case .parity(let value):
      let index = Int(value) - 1
      return Self.parities.indices.contains(index) ? .change(LineChanges(parity: Self.parities[index])) : nil
    case .stopSize(1): return .change(LineChanges(stopBits: 1))
    case .stopSize(2): return .change(LineChanges(stopBits: 2))
    // 1.5 stop bits are valid with five data bits only. Most hardware then uses them in place of two.
    case .stopSize(3): return status.dataBits == 5 ? .change(LineChanges(stopBits: 2)) : nil
    case .control(let value): return COMPortControl(rawValue: value).flatMap(Self.request)
    case .purge(let value):
      let buffers: [UInt8: LineBuffers] = [1: .received, 2: .unsent, 3: [.received, .unsent]]
      return buffers[value].map { .purge($0) }
    default: return nil
    }
  }

  private static func request(_ control: COMPortControl) -> LineRequest? {
    switch control {
    case .noFlow, .noInboundFlow: .change(LineChanges(flowControl: LineFlowControl.none))
    case .softwareFlow, .softwareInboundFlow: .change(LineChanges(flowControl: .software))
    case .hardwareFlow, .hardwareInboundFlow: .change(LineChanges(flowControl: .hardware))
    case .breakOn: .setBreak(true)
    case .breakOff: .setBreak(false)
    case .dtrOn: .set(raising: .dtr, lowering: [])
    case .dtrOff: .set(raising: [], lowering: .dtr)
    case .rtsOn: .set(raising: .rts, lowering: [])
    case .rtsOff: .set(raising: [], lowering: .rts)
    case .askFlow, .askBreak, .askDTR, .askRTS, .askInboundFlow, .dcdFlow, .dtrInboundFlow, .dsrFlow: nil
    }
  }

  /// The reply to a client's message, with the values in force.
  func answer(to message: COMPortMessage) -> COMPortMessage {
    switch message {
    case .baudRate: return .baudRate(status.baudRate)
    case .baudCode:
      return COMPortBaudCodes.code(of: status.baudRate).map { .baudCode($0) } ?? .baudRate(status.baudRate)
    case .dataSize: return .dataSize(UInt8(clamping: status.dataBits))
    case .parity: return .parity(UInt8(clamping: (Self.parities.firstIndex(of: status.parity) ?? 0) + 1))
    case .stopSize(3) where status.dataBits == 5 && status.stopBits == 2: return message
    case .stopSize: return .stopSize(UInt8(clamping: status.stopBits))
    case .control(let value): return .control(control(value).rawValue)
    default: return message
    }
  }

  /// The code of the state in force, in the group of codes that `value` belongs to.
  private func control(_ value: UInt8) -> COMPortControl {
    let flow = Self.flows.firstIndex(of: status.flowControl) ?? 0
    switch value {
    case 4...6: return isBreaking ? .breakOn : .breakOff
    case 7...9: return outputs.contains(.dtr) ? .dtrOn : .dtrOff
    case 10...12: return outputs.contains(.rts) ? .rtsOn : .rtsOff
    case 13...16, 18: return [.noInboundFlow, .softwareInboundFlow, .hardwareInboundFlow][flow]
    default: return [.noFlow, .softwareFlow, .hardwareFlow][flow]
    }
  }

  /// The input lines as in NOTIFY-MODEMSTATE, without the change bits.
  var modemState: COMPortModemState {
    var state: COMPortModemState = []
    for (line, bit) in [(ModemLines.cts, COMPortModemState.cts), (.dsr, .dsr), (.ri, .ring), (.cd, .cd)]
    where inputs.contains(line) { state.insert(bit) }
    return state
  }
}
