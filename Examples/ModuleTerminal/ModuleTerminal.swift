// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import Foundation

/// A terminal for HM-10 modules, as `BluetoothTerminal` is, without the ways of iOS: lines that are typed are sent, what comes is
/// printed. The module is named on the command line as `bridge-cli` names it (`ble:HMSoft`, an address, a serial port, a profile).
@main enum ModuleTerminal {
  static func main() async {
    let name = CommandLine.arguments.dropFirst().first ?? "ble:HMSoft"
    do throws(AccessoryError) {
      let session = try await Accessories().openSession(name, writes: true)
      print("connected to \(session.label)")
      let (typed, typing) = AsyncStream<Data>.makeStream()
      // A thread that waits in readLine has the lock of stdin, and with glibc 2.41 and later, exit waits for that lock. So stdin is read
      // only when something was typed.
      FileHandle.standardInput.readabilityHandler = { input in
        let data = input.availableData
        guard !data.isEmpty else {
          input.readabilityHandler = nil
          return typing.finish()
        }
        typing.yield(data)
      }
      Task {
        // An error is told by what is received.
        for await data in typed {
          try? await session.write(data.flatMap { $0 == UInt8(ascii: "\n") ? Array("\r\n".utf8) : [$0] })
        }
        await session.close()
      }
      for try await piece in session.input { print(String(decoding: piece, as: UTF8.self), terminator: "") }
    } catch {
      print("\(error.kind): \(error)")
    }
  }
}
