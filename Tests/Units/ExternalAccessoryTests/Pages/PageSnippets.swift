// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryDrivers
import AccessoryFamilies
import AccessoryLink
import ExternalAccessory

// The Swift that pages show for programs with `ExternalAccessory`, to the letter: `PageTests` compares. It is compiled, and
// needs an accessory to be run; the examples that are whole programs are run by `ProgramTests`.

/// README.md
final class PageDelegate: NSObject, StreamDelegate {
  func begin() {
    let accessory = EAAccessoryManager.shared().connectedAccessories.first!
    let session = EASession(accessory: accessory, forProtocol: "com.accessorybridge.framed")!
    session.inputStream?.delegate = self
    session.inputStream?.schedule(in: .main, forMode: .common)
    session.inputStream?.open()
  }
}

enum PageSnippets {
  /// ExternalAccessory.md
  static func streams(_ delegate: any StreamDelegate) {
    let manager = EAAccessoryManager.shared()
    if let accessory = manager.connectedAccessories.first(where: {
      $0.protocolStrings.contains("com.accessorybridge.framed")
    }), let session = EASession(accessory: accessory, forProtocol: "com.accessorybridge.framed") {
      for stream in [session.inputStream, session.outputStream] as [Stream?] {
        stream?.delegate = delegate
        stream?.schedule(in: .main, forMode: .common)
        stream?.open()
      }
    }
  }

  /// TwoFaces.md
  static func bytes() async throws {
    let source = CombinedSource([SimulatorSource(), UdevSource()])
    for await event in try await source.events() {
      guard case .added(let device) = event, let profile = ProfileStore.builtIn.profile(for: device) else { continue }
      let session = try await DeviceOpener(device, profile: profile).session()
      try await session.write([0x0F, 0xF0])
      for try await bytes in session.input { print(bytes) }
    }
  }

  /// BringingAnApp.md
  static func registration() {
    var profile = Profile(
      name: "example", rules: [DeviceRule(serialNumber: "A1")], protocolStrings: ["com.example.gadget"])
    profile.baudRate = 57_600
    EAAccessoryManager.shared().register(profile: profile)
  }

  // BringingAnApp.md

  func pickBrick() async throws {
    let manager = EAAccessoryManager.shared()
    manager.pickedProtocolStrings = ["COM.LEGO.MINDSTORMS.EV3"]
    manager.bluetoothAccessoryChooser = { neighbours in neighbours.first }  // ask the user: the nearest comes first
    try await manager.showBluetoothAccessoryPicker(withNameFilter: nil)
  }

  final class Events: NSObject, StreamDelegate {
    var onEvent: (@Sendable (Stream.Event) -> Void)?
    func stream(_ stream: Stream, handle event: Stream.Event) { onEvent?(event) }
  }

  actor Model {
    private let events = Events()  // a stream doesn't keep its delegate
    func start() { events.onEvent = { [weak self] event in Task { await self?.handle(event) } } }
    func handle(_ event: Stream.Event) {}
  }
}
