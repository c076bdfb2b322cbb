// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import ExternalAccessory
import TestSupport
import Testing

/// The protocol string of the AF1 accessory.
let framed = "com.accessorybridge.framed"

/// An accessory on a pseudo-terminal, whose other end the test is, and a manager that knows it.
struct Bench: Sendable {
  let terminal: TestTerminal
  let device: Device
  let source: FakeSource
  let manager: EAAccessoryManager

  init() throws {
    terminal = try openPseudoTerminal(raw: true)
    device = .af1(at: terminal.path)
    source = FakeSource([device])
    manager = EAAccessoryManager(sources: [source])
  }

  var accessory: EAAccessory {
    get throws { try #require(manager.connectedAccessories.first) }
  }

  func session() throws -> EASession { try EASession.open(try accessory, forProtocol: framed) }

  /// Waits until others can open the accessory. Ends with the test's time limit.
  func waitUntilFree() async throws {
    while true {
      do throws(AccessoryError) {
        try await DescriptorTransport.open(TerminalConfiguration(path: device.address.description)).close()
        return
      } catch {
        guard error.kind == .busy else { throw error }
      }
      try await Task.sleep(for: .milliseconds(2))
    }
  }

  /// Pulls the cable, as far as the terminal and discovery know.
  func unplug() {
    terminal.unplug()
    source.remove(device)
  }
}

extension EASession {
  var input: InputStream { inputStream! }
  var output: OutputStream { outputStream! }

  /// Does with each of the two streams what clients do.
  func start(_ delegate: any StreamDelegate, in runLoop: RunLoop, mode: RunLoop.Mode = .default) {
    for stream in [input, output] as [Stream] {
      stream.delegate = delegate
      stream.schedule(in: runLoop, forMode: mode)
      stream.open()
    }
  }

  func closeStreams() {
    input.close()
    output.close()
  }
}

/// Bytes in which a loss, a repetition or a change of order shows: a counter with a period that is no power of two.
func pattern(_ count: Int, from start: Int = 0) -> [UInt8] {
  (start..<start + count).map { UInt8(truncatingIfNeeded: $0 % 251) }
}
