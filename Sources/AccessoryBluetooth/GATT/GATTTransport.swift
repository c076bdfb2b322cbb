// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import MessageBus
import SystemPackage

/// The transport over two characteristics of a Bluetooth Low Energy device.
///
/// bluetoothd hands out a socket for each: every packet that is read from one is a notification, every packet that is
/// written to the other a write. If it doesn't offer a socket, notifications come as signals of the bus, and writes are
/// calls, one after another.
///
/// The socket for writes accepts any amount at once. While bluetoothd handles that, the kernel has no room for the
/// device's replies and drops them. So after `window` packets a value is read; its reply shows that the device has
/// received all of them.
public actor GATTTransport: Transport, EventHandler, IOWork, IOActor {
  /// The device's name for people.
  public nonisolated let label: String
  /// The time of the radio transmission is unknown.
  public nonisolated var timing: LineTiming { .instant }
  /// The bytes that have arrived.
  public nonisolated let input = InputQueue()
  /// The bytes to write.
  public nonisolated let output = OutputQueue(highWater: 16_384)

  package nonisolated let io: IOThread
  private let bluez: BlueZ
  private let device: String
  private let port: GATTSerialPort
  /// Whether this program has made the connection, and so must end it.
  private let ownsConnection: Bool
  /// Gets the events of the connection, in words for people.
  private let note: (@Sendable (String) -> Void)?
  private let reader: Watched?
  private let writer: Watched?
  /// The most bytes of a write.
  let chunk: Int
  private var writing: [UInt8] = []
  private var writtenCount = 0
  /// Whether a call of `WriteValue` is unanswered.
  private var isCalling = false
  /// The descriptor that is read to learn that the device has all packets; nil if the device has no such descriptor.
  private let checkpoint: String?
  /// The number of packets written since that descriptor was last read.
  private var unconfirmedCount = 0
  private var isConfirming = false
  /// The number of bytes from signals since the consumer paused.
  private var unreadCount = 0
  private var isClosing = false
  private var isOver = false
  /// The timer that runs from the end of the sockets until bluetoothd says why.
  private var hangUpLimit: TimerToken?
  private var observer: Int?
  private let closed = OneShot<Void>()

  /// A socket that the I/O thread watches.
  private final class Watched {
    let descriptor: FileDescriptor
    var token: EventToken?
    var interest: Interest
    init(_ descriptor: FileDescriptor, _ interest: Interest) {
      (self.descriptor, self.interest) = (descriptor, interest)
    }
  }

  /// The most packets that are written for one event.
  private static let packetsPerEvent = 16
  /// The most packets on the way. The kernel keeps 277 small ones in the other direction until bluetoothd takes them.
  static let window = 64
  private var expected = ExpectedPackets()
  /// The number of empty packets to read after a hang-up, because the end looks like an empty packet.
  private static let emptyLimit = 64
  /// The most unread bytes from signals. Unlike a socket, signals have no flow control.
  static let unreadLimit = 1 << 20
  /// How long after the end of the sockets bluetoothd may take to say why.
  private static let hangUpTime = Duration.milliseconds(200)
  /// How long a close waits for bytes that were accepted before.
  private static let closeLimit = Duration.seconds(1)
  /// How long a confirmed write may take. GATT's own limit is 30 seconds.
  static let writeLimit = Duration.seconds(31)

  /// The I/O thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// A transport over sockets that it owns. Without a socket it uses signals and calls of the bus.
  init(
    _ bluez: BlueZ, device: String, _ port: GATTSerialPort, label: String, ownsConnection: Bool,
    notifications: FileDescriptor?, writes: FileDescriptor?, packetSize: Int, checkpoint: String?,
    note: (@Sendable (String) -> Void)? = nil
  ) {
    self.io = bluez.io
    self.bluez = bluez
    self.device = device
    self.port = port
    self.label = label
    self.ownsConnection = ownsConnection
    self.checkpoint = checkpoint
    self.note = note
    reader = notifications.map { Watched($0, .read) }
    writer = writes.map { Watched($0, []) }
    chunk = GATTPacket.room(in: packetSize)
  }

  /// Starts to read and write. If that isn't possible, ends the transport and throws.
  func start() async throws(AccessoryError) {
    output.onQueued { self.io.post(self) }
    input.onResume { self.io.post { self.enter { $0.resume() } } }
    let (device, notify) = (device, port.notify.path)
    observer = await bluez.observe { [weak self] event, objects in
      self?.enter { transport in
        let isThere = objects.devices[device]?.isConnected == true
        transport.follow(event, isThere: isThere, hasPort: objects.characteristics[notify] != nil, notify)
      }
    }
    do throws(BusFailure) {
      try await bluez.follow(only: device)
      // The device may have gone while nobody observed it.
      guard await bluez.objects.devices[device]?.isConnected == true else {
        throw BusFailure("org.bluez.Error.NotConnected")
      }
      for watched in [reader, writer] {
        guard let watched, !isOver else { continue }
        do throws(Errno) {
          watched.token = try io.watch(watched.descriptor, for: watched.interest, handler: self)
        } catch {
          throw BusFailure(error)
        }
      }
      if reader == nil { _ = try await bluez.call(notify, Self.characteristic, "StartNotify", within: Self.writeLimit) }
    } catch {
      let error = await bluez.refusal(error, "opening the serial port of \(label)", of: device)
      end(error)
      await closed.value()
      throw error
    }
  }

  // MARK: - Events

  /// The I/O thread calls this when one of the sockets is ready.
  package nonisolated func ready(_ readiness: Readiness) { enter(readiness) { $0.handle($1) } }

  /// The I/O thread calls this when there is something to write.
  package nonisolated func perform() { enter { $0.flush() } }

  private func handle(_ readiness: Readiness) {
    guard !isOver else { return }
    let hasHungUp = !readiness.isDisjoint(with: [.hangUp, .error])
    if hasHungUp || readiness.contains(.readable) { read(toTheEnd: hasHungUp) }
    if hasHungUp { return hangUp() }
    if readiness.contains(.writable) { flush() }
  }

  /// Both a disconnection and a change of the services end the sockets. bluetoothd reports the reason a moment later.
  private func hangUp() {
    guard !isOver, hangUpLimit == nil else { return }
    if isClosing { return end(nil) }
    for watched in [reader, writer] {
      guard let watched, let token = watched.token else { continue }
      io.unwatch(watched.descriptor, token)
      watched.token = nil
    }
    hangUpLimit = io.schedule(at: io.now + Self.hangUpTime) { [weak self] in
      self?.enter { $0.end(.disconnected($0.label)) }
    }
  }

  private func follow(_ event: BlueZEvent, isThere: Bool, hasPort: Bool, _ notify: String) {
    guard !isOver else { return }
    switch event {
    case .value(notify, let bytes) where reader == nil: take(bytes)
    case .gone(let error):
      read(toTheEnd: true)
      end(AccessoryError(.disconnected, "\(label) was disconnected: \(error.message)"))
    case .changed where !isThere:
      read(toTheEnd: true)
      end(.disconnected(label))
    case .changed where !hasPort:
      read(toTheEnd: true)
      end(
        AccessoryError(
          .disconnected, "\(label) has other services than before, so its serial port has ended: open it again"))
    case .changed, .value, .returned: break
    }
  }

  private func watch(_ watched: Watched, _ interest: Interest) {
    guard let token = watched.token, watched.interest != interest else { return }
    watched.interest = interest
    do throws(Errno) {
      try io.change(watched.descriptor, token, to: interest)
    } catch {
      end(AccessoryError(errno: error, "watching \(label)"))
    }
  }

  // MARK: - Reading

  /// Takes the bytes of a signal.
  private func take(_ bytes: [UInt8]) {
    guard !input.append(bytes.span.bytes) else { return }
    unreadCount += bytes.count
    guard unreadCount > Self.unreadLimit else { return }
    end(
      AccessoryError(
        .ioFailure, "\(label) sends faster than its bytes are read, and this connection has no flow control"))
  }

  private func resume() {
    unreadCount = 0
    if let reader, !isOver, !isClosing { watch(reader, .read) }
  }

  /// Reads the packets for one event, or, after a hang-up, all that have arrived.
  private func read(toTheEnd: Bool) {
    guard let reader else { return }
    // The consumer is notified once for all packets, because waking it takes longer than a read.
    defer { input.notify() }
    let limit = toTheEnd ? 65_536 : expected.next()
    var readCount = 0
    var emptyCount = 0
    while readCount < limit, !isOver {
      readCount += 1
      var wantsMore = true
      do throws(Errno) {
        let count = try Socket.receive(from: reader.descriptor, by: self) { bytes in
          if !bytes.isEmpty { wantsMore = input.append(bytes, notifying: false) }
        }
        // The end, or an empty notification. The latter is no data, and other packets may follow it.
        if count == 0 { emptyCount += 1 }
        if count == 0, !toTheEnd || emptyCount == Self.emptyLimit { return }
      } catch {
        return expected.found(readCount - 1, andNoMore: true)
      }
      if !wantsMore, !toTheEnd { return watch(reader, []) }
    }
    expected.found(readCount, andNoMore: false)
  }

  // MARK: - Writing

  private func flush() {
    guard !isOver, hangUpLimit == nil else { return }
    for _ in 0..<Self.packetsPerEvent {
      if writtenCount == writing.count {
        writtenCount = 0
        guard output.take(into: &writing) else {
          writing = []
          if let writer { watch(writer, []) }
          return
        }
      }
      let packet = writing[writtenCount..<min(writing.count, writtenCount + chunk)]
      guard let writer else { return call(Array(packet)) }
      if unconfirmedCount >= Self.window, let checkpoint {
        watch(writer, [])
        return confirm(checkpoint)
      }
      do throws(Errno) {
        let count = try Socket.send(packet, to: writer.descriptor)
        unconfirmedCount += 1
        expected.wrote()
        writtenCount += count
        output.wrote(count)
      } catch .wouldBlock {
        return watch(writer, .write)
      } catch {
        read(toTheEnd: true)
        return hangUp()
      }
    }
    io.post(self)  // continue after other descriptors were served
  }

  /// Reads a value, and continues with the reply. bluetoothd sends the read after all pending writes.
  private func confirm(_ checkpoint: String) {
    guard !isConfirming else { return }
    isConfirming = true
    Task {
      // A refusal by the device is a reply, too. A disconnected device is reported elsewhere.
      _ = try? await bluez.call(checkpoint, Self.descriptor, "ReadValue", [.options([])], within: Self.writeLimit)
      isConfirming = false
      unconfirmedCount = 0
      flush()
    }
  }

  /// Writes a packet by a call, and continues with the reply.
  private func call(_ packet: [UInt8]) {
    guard !isCalling else { return }
    isCalling = true
    let kind = port.write.takesRequests ? "request" : "command"
    Task {
      do throws(BusFailure) {
        _ = try await bluez.call(
          port.write.path, Self.characteristic, "WriteValue",
          [.bytes(packet), .options([.init("type", .text(kind))])], within: Self.writeLimit)
        self.wrote(packet.count)
      } catch {
        self.end(await bluez.refusal(error, "writing to \(label)", of: device))
      }
    }
  }

  private func wrote(_ count: Int) {
    isCalling = false
    writtenCount += count
    output.wrote(count)
    flush()
  }

  static let characteristic = "org.bluez.GattCharacteristic1"
  static let descriptor = "org.bluez.GattDescriptor1"

  // MARK: - Ending

  private func beginClosing() {
    guard !isOver, !isClosing else { return }
    isClosing = true
    output.seal()
    input.finish(nil)
    if let reader { watch(reader, []) }
    let timer = io.schedule(at: io.now + Self.closeLimit) { self.io.post { self.enter { $0.end(nil) } } }
    output.onEmpty { [io] in
      io.cancel(timer)
      io.post { self.enter { $0.end(nil) } }
    }
    flush()
  }

  /// Ends both queues, once, and releases everything.
  private func end(_ error: AccessoryError?) {
    guard !isOver else { return }
    isOver = true
    if let hangUpLimit { io.cancel(hangUpLimit) }
    note?(GATTNotes.ended(isClosing ? nil : error, disconnects: ownsConnection))
    for watched in [reader, writer] {
      guard let watched else { continue }
      if let token = watched.token { io.unwatch(watched.descriptor, token) }
      Socket.close(watched.descriptor)
    }
    output.close(isClosing ? nil : error)
    input.finish(isClosing ? nil : error)
    Task {
      if let observer { await bluez.stopObserving(observer) }
      if reader == nil {
        _ = try? await bluez.call(port.notify.path, Self.characteristic, "StopNotify", within: .seconds(2))
      }
      if ownsConnection { await bluez.disconnect(device) }
      await bluez.close()
      closed.finish()
    }
  }

  /// Ends the transport, and returns when other programs can connect the device.
  ///
  /// Accepted bytes are still written, if the device takes them within a second. BlueZ takes two seconds to disconnect.
  public func close() async {
    beginClosing()
    await closed.value()
  }

  /// Starts `close()` without waiting for it.
  public nonisolated func beginClose() { io.post { self.enter { $0.beginClosing() } } }

  /// Ends the transport with `disconnected`, after the bytes that have arrived.
  public nonisolated func deviceWasRemoved() {
    io.post {
      self.enter { transport in
        transport.read(toTheEnd: true)
        transport.end(.disconnected(transport.label))
      }
    }
  }
}
