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
      // Not by a thread that waits in readLine: it has the lock of stdin, for which exit waits with glibc 2.39 and later.
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
        for await data in typed { try? await session.write(data.flatMap { $0 == 10 ? [13, 10] : [$0] }) }
        await session.close()
      }
      for try await piece in session.input { print(String(decoding: piece, as: UTF8.self), terminator: "") }
    } catch {
      print("\(error.kind): \(error)")
    }
  }
}
