// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import Dispatch

/// A terminal for HM-10 modules, as `BluetoothTerminal` is, without the ways of iOS: lines that are typed are sent, what comes is
/// printed. The module is named on the command line as `bridge-cli` names it (`ble:HMSoft`, an address, a serial port, a profile).
@main enum ModuleTerminal {
  static func main() async {
    let name = CommandLine.arguments.dropFirst().first ?? "ble:HMSoft"
    do throws(AccessoryError) {
      let session = try await Accessories().openSession(name, writes: true)
      print("connected to \(session.label)")
      let (lines, typed) = AsyncStream<String>.makeStream()
      // readLine waits in its thread, which no task may have for so long.
      DispatchQueue(label: "input").async {
        while let line = readLine() { typed.yield(line) }
        typed.finish()
      }
      Task {
        // An error is told by what is received.
        for await line in lines { try? await session.write(Array((line + "\r\n").utf8)) }
        await session.close()
      }
      for try await piece in session.input { print(String(decoding: piece, as: UTF8.self), terminator: "") }
    } catch {
      print("\(error.kind): \(error)")
    }
  }
}
