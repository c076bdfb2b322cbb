// SPDX-License-Identifier: Apache-2.0

import ExternalAccessory

extension Notification.Name {
  static let sessionDataReceived = Notification.Name("SessionDataReceivedNotification")
}

/// Habits: one shared object, everything on the main run loop in the default mode, data kept until there is space, a
/// notification of its own when bytes came, a 128-byte buffer.
class SessionController: NSObject, EAAccessoryDelegate, StreamDelegate {
  static let shared = SessionController()

  var received: [UInt8] = []
  private(set) var accessory: EAAccessory?
  private(set) var protocolString: String?
  private var session: EASession?
  private var writeData = NSMutableData()
  private var readData = NSMutableData()

  func setupController(for accessory: EAAccessory, withProtocolString protocolString: String) {
    self.accessory = accessory
    self.protocolString = protocolString
  }

  func openSession() -> Bool {
    guard let accessory = accessory, let protocolString = protocolString else { return false }
    accessory.delegate = self
    session = EASession(accessory: accessory, forProtocol: protocolString)
    guard let session = session else { return false }
    session.inputStream?.delegate = self
    session.inputStream?.schedule(in: RunLoop.current, forMode: RunLoop.Mode.default)
    session.inputStream?.open()
    session.outputStream?.delegate = self
    session.outputStream?.schedule(in: RunLoop.current, forMode: RunLoop.Mode.default)
    session.outputStream?.open()
    return true
  }

  func closeSession() {
    session?.inputStream?.close()
    session?.inputStream?.remove(from: RunLoop.current, forMode: RunLoop.Mode.default)
    session?.inputStream?.delegate = nil
    session?.outputStream?.close()
    session?.outputStream?.remove(from: RunLoop.current, forMode: RunLoop.Mode.default)
    session?.outputStream?.delegate = nil
    session = nil
    writeData = NSMutableData()
    readData = NSMutableData()
  }

  func writeData(_ data: Data) {
    writeData.append(data)
    flush()
  }

  var readBytesAvailable: NSInteger { readData.length }

  func readData(_ count: NSInteger) -> Data {
    let data = readData.subdata(with: NSRange(location: 0, length: min(count, readData.length)))
    readData.replaceBytes(in: NSRange(location: 0, length: data.count), withBytes: nil, length: 0)
    return data
  }

  private func flush() {
    while session?.outputStream?.hasSpaceAvailable == true, writeData.length > 0 {
      let written = session!.outputStream!.write(
        writeData.bytes.assumingMemoryBound(to: UInt8.self), maxLength: writeData.length)
      if written == -1 { break }
      writeData.replaceBytes(in: NSRange(location: 0, length: written), withBytes: nil, length: 0)
    }
  }

  private func readAll() {
    var buffer = [UInt8](repeating: 0, count: 128)
    while session?.inputStream?.hasBytesAvailable == true {
      let count = session!.inputStream!.read(&buffer, maxLength: 128)
      if count <= 0 { break }
      readData.append(&buffer, length: count)
    }
    NotificationCenter.default.post(name: .sessionDataReceived, object: self, userInfo: nil)
  }

  func accessoryDidDisconnect(_ accessory: EAAccessory) { closeSession() }

  func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
    switch eventCode {
    case .hasBytesAvailable: readAll()
    case .hasSpaceAvailable: flush()
    default: break
    }
  }
}

func runControllerClient() {
  EAAccessoryManager.shared().registerForLocalNotifications()
  let controller = SessionController.shared
  guard
    let accessory = EAAccessoryManager.shared().connectedAccessories.filter({ $0.protocolStrings.contains(framed) })
      .first
  else { exit(66) }
  controller.setupController(for: accessory, withProtocolString: framed)
  guard controller.openSession() else { exit(69) }
  let observer = NotificationCenter.default.addObserver(
    forName: .sessionDataReceived, object: nil, queue: OperationQueue.main
  ) { _ in
    while controller.readBytesAvailable > 0 { controller.received += controller.readData(5) }
    guard let bytes = reply(in: controller.received) else { return }
    show(bytes)
    controller.closeSession()
    exit(0)
  }
  controller.writeData(Data(batteryRequest))
  RunLoop.main.run()
  withExtendedLifetime(observer) {}
}
