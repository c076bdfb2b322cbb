// SPDX-License-Identifier: Apache-2.0

import ExternalAccessory

/// Habits: isolated to the main actor, typed notification messages, events told to it by the main run loop.
@MainActor final class AccessoryModel: NSObject {
  private static let protocolString = "com.accessorybridge.framed"
  /// The request for the battery, number 1, to the byte.
  private static let batteryRequest: [UInt8] = [0x0F, 0xF0, 0x11, 0x03, 0x01, 0x00, 0x00, 0x00, 0x26, 0x00]

  private var session: EASession?
  private var tokens: [NotificationCenter.ObservationToken] = []
  private var unsent = AccessoryModel.batteryRequest
  private var received: [UInt8] = []
  private var hasShown = false

  func start() {
    let manager = EAAccessoryManager.shared()
    tokens.append(
      NotificationCenter.default.addObserver(of: manager, for: .accessoryDidConnect) { [weak self] message in
        self?.open(message.accessory)
      })
    tokens.append(
      NotificationCenter.default.addObserver(of: manager, for: .accessoryDidDisconnect) { message in
        print("disconnected: \(message.accessory.serialNumber)")
        exit(0)
      })
    manager.registerForLocalNotifications()
    manager.connectedAccessories.forEach(open)
    if session == nil { print("waiting") }
    fflush(nil)
  }

  private func open(_ accessory: EAAccessory) {
    guard session == nil, accessory.protocolStrings.contains(Self.protocolString) else { return }
    session = EASession(accessory: accessory, forProtocol: Self.protocolString)
    for stream in [session?.inputStream, session?.outputStream] as [Stream?] {
      stream?.delegate = self
      stream?.schedule(in: .main, forMode: .common)
      stream?.open()
    }
  }

  private func handle(_ event: Stream.Event) {
    switch event {
    case .hasBytesAvailable: read()
    case .hasSpaceAvailable:
      guard !unsent.isEmpty, let count = session?.outputStream?.write(unsent, maxLength: unsent.count) else { return }
      unsent.removeFirst(max(0, count))
    default: break
    }
  }

  private func read() {
    var buffer = [UInt8](repeating: 0, count: 64)
    while let input = session?.inputStream, input.hasBytesAvailable {
      let count = input.read(&buffer, maxLength: buffer.count)
      guard count > 0 else { break }
      received += buffer[..<count]
    }
    guard !hasShown, received.count >= 10, received.count >= 14 + Int(received[6]) + Int(received[7]) << 8 else {
      return
    }
    hasShown = true
    print(received.map { String(format: "%02X", $0) }.joined(separator: " "))
    fflush(nil)
  }
}

extension AccessoryModel: @preconcurrency StreamDelegate {
  func stream(_ stream: Stream, handle event: Stream.Event) { handle(event) }
}
