// SPDX-License-Identifier: Apache-2.0

import ExternalAccessory

// BringingAnApp.md, compiled in Swift 6 mode. Tests/Clients/Swift6 is such a program that is run.

@MainActor final class Gadgets: NSObject, @preconcurrency StreamDelegate {
  private var session: EASession?
  private var tokens: [NotificationCenter.ObservationToken] = []

  func start() {
    let (manager, center) = (EAAccessoryManager.shared(), NotificationCenter.default)
    tokens = [
      center.addObserver(of: manager, for: .accessoryDidConnect) { [weak self] in self?.open($0.accessory) },
      center.addObserver(of: manager, for: .accessoryDidDisconnect) { [weak self] in self?.close($0.accessory) },
    ]
    manager.registerForLocalNotifications()
    manager.connectedAccessories.forEach(open)
  }

  private func open(_ accessory: EAAccessory) {
    guard session == nil, accessory.protocolStrings.contains("com.example.gadget") else { return }
    session = EASession(accessory: accessory, forProtocol: "com.example.gadget")  // nil: the log says why
    for stream in [session?.inputStream, session?.outputStream] as [Stream?] {
      stream?.delegate = self
      stream?.schedule(in: .main, forMode: .common)
      stream?.open()
    }
  }

  private func close(_ accessory: EAAccessory) {
    if session?.accessory === accessory { session = nil }
  }

  func stream(_ stream: Stream, handle event: Stream.Event) {
    guard event == .hasBytesAvailable, let input = stream as? InputStream else { return }
    var buffer = [UInt8](repeating: 0, count: 1_024)
    let count = input.read(&buffer, maxLength: buffer.count)
    print(buffer.prefix(max(0, count)))
  }
}
