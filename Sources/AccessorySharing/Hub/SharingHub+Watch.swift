// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// Modem lines and line errors. The hub reads them only while a client asks for notices of them.
extension SharingHub {
  /// The time between two readings: 20 readings a second.
  private static let watchInterval = Duration.milliseconds(50)

  private var wantsModemLines: Bool {
    hasModemLines && clients.values.contains { $0.telnet?.watchesModemLines == true }
  }

  private var wantsLineState: Bool {
    lineState.isPossible && clients.values.contains { $0.telnet?.watchesLineState == true }
  }

  /// Reads the line regularly while a client asks for notices of its changes.
  func watchLines() {
    guard lineTimer == nil, device?.line != nil, wantsModemLines || wantsLineState else { return }
    lineTimer = clock.schedule(at: clock.now + Self.watchInterval) { [weak self] in self?.onThread { $0.lookAtLines() }
    }
  }

  private func lookAtLines() {
    guard let transport = device, let line = transport.line else { return lineTimer = nil }
    Task {
      if wantsModemLines { await lookAtModemLines(transport, line) }
      if wantsLineState { await lookAtLineState(transport, line) }
      lineTimer = nil
      watchLines()
    }
  }

  private func lookAtModemLines(_ transport: any Transport, _ line: any LineControl) async {
    do throws(AccessoryError) {
      let lines = try await line.modemLines()
      guard device === transport else { return }
      memory.note(lines, keepsOutputs: reset.ownsOutputs)
      notifyAll()
    } catch {
      // After any other error, such as a timeout of a slow adapter, the lines are read again.
      if device === transport, error.kind == .unsupported { hasModemLines = false }
    }
  }

  /// Reads the error counters of the driver, and sends notices to the clients that ask for them.
  func lookAtLineState(_ transport: any Transport, _ line: any LineControl) async {
    let activity = try? await line.activity()
    guard device === transport else { return }
    guard let activity else { return lineState.isPossible = false }
    let events = lineState.take(activity)
    for client in clients.values {
      guard let notice = client.telnet?.lineNotice(registers, events: events), !notice.isEmpty else { continue }
      pass(notice, to: client, isData: false)
    }
  }

  /// The transmit registers as RFC 2217 defines them. The holding register is empty when all bytes were given to the driver, and the
  /// shift register when the driver has sent them.
  var registers: COMPortLineState {
    guard device.map({ $0.output.queuedCount == 0 }) ?? true else { return [] }
    return lineState.unsentCount == 0 ? [.holdingRegisterEmpty, .shiftRegisterEmpty] : .holdingRegisterEmpty
  }
}
