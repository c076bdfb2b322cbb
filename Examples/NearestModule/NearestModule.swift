// SPDX-License-Identifier: Apache-2.0

import BLESerial

/// Connects the serial module with the strongest signal, sends it what is typed, and prints what comes. When it is lost, it is
/// connected again.
@MainActor final class NearestModule: @MainActor BLESerialDelegate {
  private var manager: BLESerialManager?
  private(set) var module: UUID?
  private let print: (String) -> Void

  init(print: @escaping (String) -> Void = { Swift.print($0, terminator: "") }) { self.print = print }

  func start(searchingFor time: Duration = .seconds(5)) {
    let manager = BLESerialManager(delegate: self, services: [CBUUID(string: "FFE0")], searchingFor: time)
    manager.setAutomaticReconnectOnDisconnect(tries: 10, timeBetweenTries: .seconds(2))
    self.manager = manager
  }

  func send(_ text: String) { if let module { _ = manager?.send(Data(text.utf8), to: module) } }

  func serialManagerSearchTimerExpired(_ manager: BLESerialManager) {
    guard let nearest = manager.devicesByStrength.first else { return manager.search(for: .seconds(5)) }
    print("\(manager.name(of: nearest)) at \(manager.strength(of: nearest) ?? 0) dBm\n")
    module = nearest
    manager.connect(to: nearest)
  }

  func serialManager(_ manager: BLESerialManager, deviceStatusChanged device: UUID, to status: BLESerialStatus) {
    print("\(status)\n")
    if status == .disconnected { manager.search(for: .seconds(5)) }
  }

  func serialManager(_ manager: BLESerialManager, didReceive data: Data, from device: UUID) {
    print(String(decoding: data, as: UTF8.self))
  }
}

@main enum Program {
  @MainActor static func main() {
    let terminal = NearestModule()
    terminal.start()
    let input = DispatchSource.makeReadSource(fileDescriptor: FileHandle.standardInput.fileDescriptor, queue: .main)
    input.setEventHandler {
      guard let line = readLine() else { exit(0) }
      terminal.send(line + "\r\n")
    }
    input.resume()
    withExtendedLifetime(input) { dispatchMain() }
  }
}
