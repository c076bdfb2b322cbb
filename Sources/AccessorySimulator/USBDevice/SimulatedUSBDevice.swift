// SPDX-License-Identifier: Apache-2.0

/// The state of a simulated USB device: handles the kernel's requests and the accessory's bytes, and returns replies
/// and the host's bytes. Has no I/O and no clock.
struct SimulatedUSBDevice: Sendable {
  /// The most transfers in progress, many times what drivers use.
  static let mostTransfers = 4_096
  /// The most bytes of OUT transfers that may wait for the accessory.
  static let mostHeld = 64 << 20

  private var function: any USBFunction
  private var control: ControlEndpoint
  private var pipes: [UInt8: InputPipe] = [:]
  /// IN transfers that wait for data, in order, by endpoint.
  private var parked: [UInt8: [USBIPTransfer]] = [:]
  /// OUT transfers that wait because the accessory doesn't accept data, in order.
  private var held: [USBIPTransfer] = []
  private var heldCount = 0
  /// Control transfers that the device doesn't answer.
  private var unanswered: [USBIPTransfer] = []
  private var isPaused = false
  private var failNext = false
  private let input: UInt8
  private let output: UInt8

  /// Data for the accessory, an element for each transfer. The owner empties it.
  var received: [[UInt8]] = []

  init(_ identity: SimulatedUSBIdentity) {
    function = identity.function
    control = ControlEndpoint(identity, function)
    (input, output) = (function.input.address, function.output.address)
    for endpoint in function.interfaces.flatMap(\.endpoints) where endpoint.address & 0x80 != 0 {
      pipes[endpoint.address] = InputPipe(endpoint, style: endpoint.address == input ? function.style : .stream)
    }
  }

  /// Whether each transfer is one message.
  var keepsMessages: Bool { function.keepsMessages }
  /// The serial settings that the host has requested; nil when the device has no serial line.
  var line: HostLineSettings? { function.line }
  /// The number of the accessory's bytes that weren't sent to the host yet.
  var unsentCount: Int { pipes[input]?.count ?? 0 }
  /// The number of transfers in progress.
  var transferCount: Int { held.count + unanswered.count + parked.values.reduce(0) { $0 + $1.count } }

  // MARK: - The host's side

  /// Handles a request, and appends the replies to send now. Throws `tooMany` for more transfers than any driver has.
  mutating func take(_ request: USBIPRequest, replies: inout [UInt8]) throws(USBIPError) {
    switch request {
    case .unlink(let sequence, let target):
      USBIPReply.unlink(sequence: sequence, status: forget(target) ? .cancelled : .done).encode(into: &replies)
    case .submit(let transfer) where transfer.endpoint & 0x7F == 0:
      guard transferCount < Self.mostTransfers else { throw .tooMany }
      answer(transfer, &replies)
    case .submit(let transfer):
      if control.halted.contains(transfer.endpoint) { return complete(transfer, .stall, into: &replies) }
      guard transferCount < Self.mostTransfers else { throw .tooMany }
      if transfer.endpoint == output {
        held.append(transfer)
        heldCount += transfer.data.count
        guard heldCount <= Self.mostHeld else { throw .tooMany }
        takeHeld(&replies)
      } else if pipes[transfer.endpoint] != nil {
        parked[transfer.endpoint, default: []].append(transfer)
        fill(transfer.endpoint, &replies)
      } else {
        complete(transfer, .stall, into: &replies)
      }
    }
  }

  private mutating func forget(_ sequence: UInt32) -> Bool {
    if let index = held.firstIndex(where: { $0.sequence == sequence }) {
      heldCount -= held.remove(at: index).data.count
      return true
    }
    if let index = unanswered.firstIndex(where: { $0.sequence == sequence }) {
      unanswered.remove(at: index)
      return true
    }
    for endpoint in parked.keys {
      if let index = parked[endpoint]?.firstIndex(where: { $0.sequence == sequence }) {
        parked[endpoint]?.remove(at: index)
        return true
      }
    }
    return false
  }

  private mutating func answer(_ transfer: USBIPTransfer, _ replies: inout [UInt8]) {
    let wasReady = function.line?.dtr ?? false
    let (outcome, effect) =
      transfer.setup.kind == .standard
      ? control.answer(transfer.setup) : (function.control(transfer.setup, transfer.data), .none)
    switch outcome {
    case .stall: complete(transfer, .stall, into: &replies)
    case .silence: unanswered.append(transfer)
    case .received(let bytes):
      received.append(bytes)
      complete(transfer, .done, into: &replies)
    case .done(let bytes):
      complete(transfer, .done, data: transfer.isIn ? Array(bytes.prefix(transfer.length)) : [], into: &replies)
    }
    switch effect {
    case .none: break
    case .configured: start(&replies)
    case .cleared(let endpoint): fill(endpoint, &replies)
    }
    // The program that had the line open has closed it. Bytes that it didn't read aren't for the next program.
    if wasReady, function.line?.dtr == false { pipes[input]?.clear() }
  }

  private mutating func start(_ replies: inout [UInt8]) {
    for endpoint in pipes.keys { pipes[endpoint]?.clear() }
    failNext = false
    if let message = function.configured() { received.append(message) }
    guard control.configuration != 0, let notification = function.notification else { return }
    pipes[notification.endpoint]?.append(notification.bytes)
    fill(notification.endpoint, &replies)
  }

  private mutating func fill(_ endpoint: UInt8, _ replies: inout [UInt8]) {
    while let transfer = parked[endpoint]?.first {
      let isFailure = failNext && endpoint == input
      guard let (status, data) = isFailure ? (.protocolError, []) : pipes[endpoint]?.fill(room: transfer.length)
      else { return }
      if isFailure { failNext = false }
      parked[endpoint]?.removeFirst()
      let isShort = status == .done && data.count < transfer.length && transfer.flags.contains(.shortNotOK)
      complete(transfer, isShort ? .short : status, data: data, into: &replies)
    }
  }

  private mutating func takeHeld(_ replies: inout [UInt8]) {
    guard !isPaused else { return }
    for transfer in held {
      received.append(transfer.data)
      complete(transfer, .done, into: &replies)
    }
    (held, heldCount) = ([], 0)
  }

  private func complete(
    _ transfer: USBIPTransfer, _ status: USBStatus, data: [UInt8] = [], into replies: inout [UInt8]
  ) {
    let count = transfer.isIn ? data.count : status == .done ? transfer.length : 0
    USBIPReply.submit(sequence: transfer.sequence, status: status, count: count, data: data).encode(into: &replies)
  }

  // MARK: - The accessory's side

  /// Sends bytes to the host as it submits IN transfers.
  mutating func send(_ bytes: [UInt8], replies: inout [UInt8]) {
    let bytes = bytes.isEmpty ? [] : function.sent(bytes)
    guard !bytes.isEmpty else { return }
    pipes[input]?.append(bytes)
    fill(input, &replies)
  }

  /// Holds back OUT transfers, or accepts them again.
  mutating func pause(_ isPaused: Bool, replies: inout [UInt8]) {
    self.isPaused = isPaused
    takeHeld(&replies)
  }

  /// Halts the IN endpoint: its transfers fail until the host clears it. Unsent bytes are lost.
  mutating func stall(replies: inout [UInt8]) {
    control.halt(input)
    pipes[input]?.clear()
    for transfer in parked.removeValue(forKey: input) ?? [] { complete(transfer, .stall, into: &replies) }
  }

  /// Makes one IN transfer fail: the waiting one, or else the next.
  mutating func failTransfer(replies: inout [UInt8]) {
    failNext = true
    fill(input, &replies)
  }
}
