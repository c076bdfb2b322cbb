// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import SystemPackage

/// The accessory's end of a simulated USB device: the host's bytes are its input, the accessory's bytes its output.
///
/// The cable to the host is a socket, which the I/O thread serves. Requests are decoded and answered on a dispatch queue.
actor USBDeviceTransport: Transport {
  /// The path of the device in sysfs.
  nonisolated let label: String
  nonisolated let timing = LineTiming.instant
  nonisolated let input: InputQueue
  nonisolated let output: OutputQueue

  private nonisolated let executor: DispatchExecutor
  private let cable: DescriptorTransport
  private let onLine: (@Sendable (HostLineSettings) -> Void)?
  private var device: SimulatedUSBDevice
  private var decoder = USBIPDecoder()
  private var line: HostLineSettings?
  private var arrived: [UInt8] = []
  private var sending: [UInt8] = []
  private var messages: [Int] = []
  /// Replies that wait because the socket is full. Bounded, because they answer the host's own requests.
  private var replies: [UInt8] = []
  private var isOver = false

  /// The device's serial dispatch queue.
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Plugs a device in, at `path` if that port is free. `onLine` is called when the host changes the serial settings.
  static func plugIn(
    _ identity: SimulatedUSBIdentity, into host: any USBHost, preferring path: String? = nil, io: IOThread = .shared,
    onLine: (@Sendable (HostLineSettings) -> Void)? = nil
  ) async throws(AccessoryError) -> USBDeviceTransport {
    let setup = SetupQueue(label: "usb-device")
    let speed = identity.kind.speed.rawValue
    let attachment = try await setup.run { () throws(AccessoryError) in
      try host.attach(speed: speed, preferring: path)
    }
    let descriptor = attachment.descriptor
    let cable = DescriptorTransport(
      descriptor: descriptor, label: attachment.path, timing: .instant, io: io, setup: setup
    ) { try? descriptor.close() }
    let transport = USBDeviceTransport(identity, cable, onLine)
    transport.connect()
    return transport
  }

  private init(
    _ identity: SimulatedUSBIdentity, _ cable: DescriptorTransport, _ onLine: (@Sendable (HostLineSettings) -> Void)?
  ) {
    label = cable.label
    executor = DispatchExecutor(label: "accessory.usb-device")
    self.cable = cable
    self.onLine = onLine
    device = SimulatedUSBDevice(identity)
    input = InputQueue(keepsMessages: device.keepsMessages)
    output = OutputQueue(highWater: 65_536, keepsMessages: device.keepsMessages)
    line = device.line
  }

  private nonisolated func connect() {
    output.onQueued { [weak self] in self?.post { $0.sendQueued() } }
    input.onResume { [weak self] in
      self?.post {
        $0.device.pause(false, replies: &$0.replies)
        $0.pass()
      }
    }
    cable.output.onSpace { [weak self] in self?.post { $0.flush() } }
    // A strong reference: the device lives as long as its cable.
    cable.input.onReadable { self.post { $0.drain() } }
  }

  private nonisolated func post(_ body: @escaping @Sendable (isolated USBDeviceTransport) -> Void) {
    executor.post { self.assumeIsolated(body) }
  }

  // MARK: - From the host

  private func drain() {
    while true {
      switch cable.input.take(into: &arrived) {
      case .nothing: return
      case .end(let error): return end(error)
      case .bytes:
        decoder.append(arrived)
        do throws(USBIPError) {
          while let request = try decoder.next() {
            try device.take(request, replies: &replies)
            tellLine()
          }
        } catch {
          end(AccessoryError(.badData, "the host of \(label) sent an invalid request: \(error)"))
          return
        }
        pass()
      }
    }
  }

  /// Passes received data on to the input, and sends the replies.
  private func pass() {
    if !device.received.isEmpty {
      var wantsMore = true
      for transfer in device.received { wantsMore = input.append(transfer.span.bytes) && wantsMore }
      device.received.removeAll(keepingCapacity: true)
      device.pause(!wantsMore, replies: &replies)
    }
    flush()
    sendQueued()
  }

  private func tellLine() {
    guard device.line != line, let now = device.line else { return }
    line = now
    onLine?(now)
  }

  private func flush() {
    guard !replies.isEmpty, !isOver else { return }
    if cable.output.offer(replies) == .accepted { replies.removeAll(keepingCapacity: true) }
  }

  // MARK: - To the host

  /// Takes bytes from the queue only when the host has received all earlier ones, so that back-pressure reaches the sender.
  private func sendQueued() {
    while !isOver, device.unsentCount == 0 {
      if !sending.isEmpty { output.wrote(sending.count) }
      guard output.take(into: &sending, messages: &messages) else { return }
      var start = 0
      // Each message starts a new report.
      for count in messages {
        device.send(Array(sending[start..<(start + count)]), replies: &replies)
        start += count
      }
      device.send(Array(sending[start...]), replies: &replies)
      flush()
    }
  }

  // MARK: - Faults

  /// Causes a fault, after everything that was sent before.
  nonisolated func fail(_ fault: Plug.BusFault) {
    post { transport in
      switch fault {
      case .stall: transport.device.stall(replies: &transport.replies)
      case .protocolError: transport.device.failTransfer(replies: &transport.replies)
      }
      transport.flush()
      transport.sendQueued()
    }
  }

  // MARK: - Closing

  private func end(_ error: AccessoryError?) {
    guard !isOver else { return }
    isOver = true
    cable.beginClose()
    output.close(error)
    input.finish(error)
  }

  /// Unplugs the device. Returns when the socket is closed.
  func close() async {
    end(nil)
    await cable.close()
  }

  /// Unplugs the device without waiting.
  nonisolated func beginClose() { post { $0.end(nil) } }

  /// Unplugs the device.
  nonisolated func deviceWasRemoved() { beginClose() }
}
