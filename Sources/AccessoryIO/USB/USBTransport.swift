// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import SystemPackage

/// The transport over a pair of USB endpoints, bulk or interrupt, through libusb.
///
/// Several transfers of each direction are with the kernel at any time, so that the bus is never idle while there are
/// bytes to carry. A transfer that fails is repeated, and an endpoint that halts is cleared; the transport ends when
/// the device is certainly gone, or when this recovery fails. Written bytes arrive in order, with one exception: when a
/// transfer to the device fails with a bus error, the host controller may already have carried the transfers after it.
public actor USBTransport: Transport, IOWork, IOActor {
  /// The device's name for people.
  public nonisolated let label: String
  /// Bytes take no time on a line: USB has timeouts of its own.
  public nonisolated let timing = LineTiming.instant
  /// The bytes that have arrived.
  public nonisolated let input: InputQueue
  /// The bytes to write.
  public nonisolated let output: OutputQueue
  /// The interface and the endpoints in use: number, address and packet size of each.
  public nonisolated var endpoints: (interface: UInt8, input: USBEndpointDescription, output: USBEndpointDescription) {
    (device.selection.interface, device.selection.input, device.selection.output)
  }
  /// Counters of what has happened so far.
  public nonisolated var counters: USBCounters { tally.counters }

  package nonisolated let io: IOThread
  nonisolated let device: USBDevice
  nonisolated let tally = USBTally()
  let context: USBContext
  let setup: SetupQueue
  let configuration: USBTransportConfiguration
  /// How bytes are put into transfers.
  public nonisolated let shape: USBTransportConfiguration.Shape

  // The two directions.
  var inputSide: InputSide
  var outputSide: OutputSide
  /// The number of cancellations that are still running.
  var cancelling = 0 { didSet { setSubmissionState() } }
  /// libusb is delivering transfers; `batchEnded` will be called.
  var isAwaitingBatch = false

  // The state of closing.
  enum Phase {
    case open
    /// The transfers are being cancelled.
    case ending(AccessoryError?, since: MonotonicTime)
    /// The device is being closed on the setup queue, or is closed.
    case released
  }
  var phase = Phase.open { didSet { setSubmissionState() } }
  /// The owner has closed the transport; accepted bytes are still being sent.
  var isClosing = false
  let closed = OneShot<Void>()
  /// Retains the transport, which libusb's callbacks use, until the last transfer has come back.
  private var selfReference: USBTransport?

  /// The I/O thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Opens a pair of endpoints on a setup queue and passes it to `io`. The kernel's driver of the interface is
  /// detached, and attached again on close.
  ///
  /// Throws `notFound`, `permissionDenied` (naming the group to join), `busy` (naming the process that has the
  /// interface), `misconfigured` or `unsupported` when there is no such pair (listing those that exist), `disconnected`
  /// when the device goes away meanwhile, `badData` for invalid descriptors, and `cancelled` when the task is
  /// cancelled.
  public static func open(
    _ configuration: USBTransportConfiguration, io: IOThread = .shared
  ) async throws(AccessoryError) -> USBTransport {
    try await open(configuration, io: io, node: USBNode.open)
  }

  /// Like `open(_:io:)`, on a node that is already open and whose descriptors are known. For benchmarks, which have no
  /// usbfs.
  @_spi(Benchmarks) public static func open(
    _ configuration: USBTransportConfiguration, descriptor: CInt, descriptors: [UInt8], io: IOThread = .shared
  ) async throws(AccessoryError) -> USBTransport {
    let node = USBNode(descriptor: FileDescriptor(rawValue: descriptor), descriptors: descriptors)
    return try await open(configuration, io: io, node: { _ throws(AccessoryError) in node })
  }

  /// Like `open(_:io:)`; `node` opens the node.
  package static func open(
    _ configuration: USBTransportConfiguration, io: IOThread = .shared, node: @escaping USBNode.Opener
  ) async throws(AccessoryError) -> USBTransport {
    let context = try io.usb()
    let setup = SetupQueue(label: configuration.path)
    let device = try await setup.run { () throws(AccessoryError) in try USBDevice(configuration, context, node) }
    if Task.isCancelled {
      await setup.run { device.release() }
      throw AccessoryError(.cancelled, "opening \(configuration.label) was cancelled")
    }
    return USBTransport(device, configuration, context, setup, io)
  }

  private init(
    _ device: USBDevice, _ configuration: USBTransportConfiguration, _ context: USBContext, _ setup: SetupQueue,
    _ io: IOThread
  ) {
    self.device = device
    self.configuration = configuration
    self.context = context
    self.setup = setup
    self.io = io
    label = configuration.label
    let isHuman = device.selection.function.code == USBClass.humanInterface
    shape = configuration.shape ?? (isHuman ? .paddedMessages : .stream)
    let keepsMessages = shape != .stream
    input = InputQueue(highWater: USBTransportConfiguration.inputHighWater, keepsMessages: keepsMessages)
    output = OutputQueue(highWater: configuration.outputHighWater, keepsMessages: keepsMessages)
    inputSide = InputSide(device.selection.input, to: input, tally: tally, label: label)
    outputSide = OutputSide(device.selection.output, from: output, as: shape, tally: tally, label: label)
    connect()
  }

  private nonisolated func connect() {
    input.onResume { [weak self, io] in
      guard let self else { return }
      io.post { self.assumeIsolated { $0.resume() } }
    }
    output.onQueued { [weak self, io] in if let self { io.post(self) } }
    io.post { self.assumeIsolated { $0.start() } }
  }

  private func start() {
    selfReference = self
    let count = min(max(configuration.transfersInFlight, 1), 64)
    let (input, output) = (device.selection.input, device.selection.output)
    let limit = shape == .stream ? configuration.streamTransferSize : configuration.transferSize
    let receivers = (0..<count).compactMap { _ in
      USBTransfer(device.handle, input, capacity: length(input, atMost: limit), owner: self)
    }
    let senders = (0..<count).compactMap { _ in
      USBTransfer(device.handle, output, capacity: length(output, atMost: limit), owner: self)
    }
    inputSide.begin(with: receivers, usualLength: length(input, atMost: configuration.transferSize))
    outputSide.begin(with: senders)
    context.attach(self, to: device.descriptor.rawValue)
    guard !receivers.isEmpty, !senders.isEmpty else {
      return end(AccessoryError(.ioFailure, "no memory for USB transfers of \(label)"))
    }
    submit(.in)
    submit(.out)
  }

  /// The size of a transfer in bytes: whole packets, since a device may always send a full packet. A report of an
  /// interrupt endpoint, or a message on a bulk endpoint, is one transfer, so that its end is seen.
  private func length(_ endpoint: USBEndpointDescription, atMost limit: Int) -> Int {
    let packet = endpoint.maxPacketSize * (endpoint.transfer == .interrupt ? endpoint.packetsPerInterval : 1)
    if endpoint.transfer == .interrupt { return packet }
    let wanted = min(max(limit, packet), 1 << 20)
    return wanted - wanted % packet
  }

  /// The I/O thread calls this when there is something to write, or to notify the consumer of.
  package nonisolated func perform() {
    enter {
      $0.looked()
      $0.submit(.out)
    }
  }

  /// Called when the device is closed and other programs can open it.
  func released() {
    selfReference = nil
    closed.finish()
  }
}

extension IOThread {
  /// The libusb context of this thread.
  func usb() throws(AccessoryError) -> USBContext { try shared { io throws(AccessoryError) in try USBContext(io: io) } }
}
