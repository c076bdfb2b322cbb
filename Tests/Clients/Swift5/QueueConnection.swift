// SPDX-License-Identifier: Apache-2.0

import ExternalAccessory

/// Habits: scheduled in the common modes and removed from the default one, a new queue for each event and each write,
/// unsafe buffers, a flag for the space, the output closed first, the session never let go.
class QueueConnection: NSObject, StreamDelegate {
  private let accessory: EAAccessory
  private var session: EASession?
  private var canWrite = true
  private var writeBuffer: [Data] = []
  private let maximumReadLength = 256
  private let lock = NSLock()
  private var received: [UInt8] = []
  var isClosed = true

  init(accessory: EAAccessory) { self.accessory = accessory }

  func open() {
    session = EASession(accessory: accessory, forProtocol: framed)
    guard let session = session else { exit(69) }
    isClosed = false
    for stream in [session.inputStream as Stream?, session.outputStream as Stream?] {
      stream!.delegate = self
      stream!.schedule(in: RunLoop.main, forMode: RunLoop.Mode.common)
      stream!.open()
    }
  }

  func close() {
    for stream in [session!.outputStream as Stream?, session!.inputStream as Stream?] {
      stream!.close()
      stream!.remove(from: RunLoop.current, forMode: RunLoop.Mode.default)
      stream!.delegate = nil
    }
    isClosed = true
  }

  func write(_ data: Data) {
    DispatchQueue(label: "connection.write").async {
      self.lock.lock()
      self.writeBuffer.append(data)
      self.lock.unlock()
      self.writeSome()
    }
  }

  private func writeSome() {
    lock.lock()
    defer { lock.unlock() }
    guard canWrite, !isClosed, !writeBuffer.isEmpty, let output = session?.outputStream, output.hasSpaceAvailable
    else { return }
    let data = writeBuffer.removeFirst()
    canWrite = false
    _ = data.withUnsafeBytes { output.write($0.bindMemory(to: UInt8.self).baseAddress!, maxLength: data.count) }
  }

  private func readSome() {
    guard let stream = session?.inputStream else { return }
    let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: maximumReadLength)
    defer { buffer.deallocate() }
    lock.lock()
    defer { lock.unlock() }
    while stream.hasBytesAvailable {
      let count = stream.read(buffer, maxLength: maximumReadLength)
      if count < 0, let error = stream.streamError {
        print(error)
        break
      }
      received.append(contentsOf: UnsafeBufferPointer(start: buffer, count: count))
    }
    guard let bytes = reply(in: received), !isClosed else { return }
    show(bytes)
    close()
    exit(0)
  }

  func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
    switch eventCode {
    case Stream.Event.hasBytesAvailable:
      DispatchQueue(label: "connection.read").async { self.readSome() }
    case Stream.Event.hasSpaceAvailable:
      lock.lock()
      canWrite = true
      lock.unlock()
      DispatchQueue(label: "connection.space").async { self.writeSome() }
    case Stream.Event.errorOccurred, Stream.Event.endEncountered: exit(74)
    default: break
    }
  }
}

class ConnectionManager {
  var connection: QueueConnection?

  func connect(_ accessory: EAAccessory) {
    guard connection == nil, accessory.protocolStrings.contains(framed) else { return }
    connection = QueueConnection(accessory: accessory)
    connection!.open()
    connection!.write(Data(batteryRequest))
  }
}

func runQueueClient() {
  let manager = EAAccessoryManager.shared()
  let connections = ConnectionManager()
  let observer = NotificationCenter.default.addObserver(forName: .EAAccessoryDidConnect, object: nil, queue: nil) {
    note in
    connections.connect(note.userInfo![EAAccessoryKey] as! EAAccessory)
  }
  manager.registerForLocalNotifications()
  manager.connectedAccessories.forEach { connections.connect($0) }
  RunLoop.main.run()
  withExtendedLifetime(observer) {}
}
