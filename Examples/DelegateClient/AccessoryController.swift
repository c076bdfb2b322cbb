// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import ExternalAccessory
import FamilyAF1

/// Talks to the AF1 accessory in the way of an iOS app: notifications, a session, and streams that tell their
/// delegate on the main run loop.
final class AccessoryController: NSObject, EAAccessoryDelegate, StreamDelegate {
  private static let protocolString = "com.accessorybridge.framed"

  private var observer: (any NSObjectProtocol)?
  private var session: EASession?
  private var codec = AF1Codec(maximumPayload: 4_096)
  private var unsent: [UInt8] = []
  private var unanswered: Set<UInt16> = []

  /// Opens the accessory that is there, or the next one that comes.
  func start() {
    let manager = EAAccessoryManager.shared()
    observer = NotificationCenter.default.addObserver(forName: .EAAccessoryDidConnect, object: nil, queue: .main) {
      [unowned self] notification in
      guard let accessory = notification.userInfo?[EAAccessoryKey] as? EAAccessory else { return }
      print("\(accessory.name) was connected")
      open(accessory)
    }
    manager.registerForLocalNotifications()
    if let accessory = manager.connectedAccessories.first(where: {
      $0.protocolStrings.contains(Self.protocolString)
    }) {
      open(accessory)
    } else {
      print("waiting for an accessory")
    }
  }

  private func open(_ accessory: EAAccessory) {
    guard session == nil else { return }
    guard let session = EASession(accessory: accessory, forProtocol: Self.protocolString) else {
      return print("\(accessory.name) can't be opened")
    }
    self.session = session
    accessory.delegate = self
    for stream in [session.inputStream, session.outputStream] as [Stream?] {
      stream?.delegate = self
      stream?.schedule(in: .main, forMode: .common)
      stream?.open()
    }
    ask(.battery, number: 1)
    ask(.status, number: 2)
  }

  private func close() {
    for stream in [session?.inputStream, session?.outputStream] as [Stream?] {
      stream?.close()
      stream?.remove(from: .main, forMode: .common)
      stream?.delegate = nil
    }
    session = nil
  }

  func accessoryDidDisconnect(_ accessory: EAAccessory) {
    print("\(accessory.name) was disconnected")
    close()
  }

  // MARK: - Streams

  func stream(_ stream: Stream, handle event: Stream.Event) {
    switch event {
    case .hasBytesAvailable: read()
    case .hasSpaceAvailable: write()
    case .errorOccurred: print(stream.streamError?.localizedDescription ?? "failed")
    default: break
    }
  }

  private func read() {
    guard let input = session?.inputStream else { return }
    var buffer = [UInt8](repeating: 0, count: 1_024)
    var frames = FrameBatch<AF1Header>()
    while input.hasBytesAvailable {
      let count = input.read(&buffer, maxLength: buffer.count)
      guard count > 0 else { break }
      let bytes = Array(buffer[..<count])
      codec.decode(bytes.span.bytes, into: &frames)
    }
    for index in 0..<frames.count where frames.outcome(at: index) == .whole {
      answered(frames.header(at: index), frames.payloadBytes(at: index))
    }
  }

  private func answered(_ header: AF1Header, _ payload: [UInt8]) {
    guard unanswered.remove(header.number) != nil else { return }
    switch header.command {
    case .battery:
      guard let battery = try? AF1BatteryReply(decoding: payload.span.bytes) else { return }
      print("battery: \(battery.percent.map { "\($0) %" } ?? "unknown"), \(battery.level)")
    case .status:
      guard let status = try? AF1StatusReply(decoding: payload.span.bytes) else { return }
      print("status: \(status.state)")
    default: break
    }
    if unanswered.isEmpty {
      close()
      exit(0)
    }
  }

  private func ask(_ command: AF1Command, number: UInt16) {
    try? codec.encode(.request(command, number: number), payload: [], into: &unsent)
    unanswered.insert(number)
    write()
  }

  private func write() {
    guard let output = session?.outputStream, output.hasSpaceAvailable, !unsent.isEmpty else { return }
    let count = output.write(unsent, maxLength: unsent.count)
    if count > 0 { unsent.removeFirst(count) }
  }
}
