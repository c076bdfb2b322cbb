// SPDX-License-Identifier: Apache-2.0

/// Splits the bytes that are queued for the device into transfers, in order.
struct OutputPieces {
  private let queue: OutputQueue
  private let shape: USBTransportConfiguration.Shape
  private let packet: Int
  private let isBulk: Bool
  /// The bytes that were taken from the queue, and how many of them were put into transfers.
  private var bytes: [UInt8] = []
  private var position = 0
  /// What is left of each message in `bytes`, and the index of the message at `position`.
  private var messages: [Int] = []
  private var next = 0

  init(_ endpoint: USBEndpointDescription, from queue: OutputQueue, as shape: USBTransportConfiguration.Shape) {
    self.queue = queue
    self.shape = shape
    packet = endpoint.maxPacketSize
    isBulk = endpoint.transfer == .bulk
  }

  /// Fills a transfer with the next bytes. Returns false when there are none.
  mutating func fill(_ transfer: USBTransfer) -> Bool {
    guard hasMore() else { return false }
    transfer.clear()
    if queue.keepsMessages { fillWithMessage(transfer) } else { fillWithStream(transfer) }
    return true
  }

  private mutating func hasMore() -> Bool {
    if position < bytes.count { return true }
    (position, next) = (0, 0)
    return queue.take(into: &bytes, messages: &messages)
  }

  private mutating func move(_ count: Int, into transfer: USBTransfer) {
    bytes.withUnsafeBytes { transfer.append(UnsafeRawBufferPointer(rebasing: $0[position..<(position + count)])) }
    position += count
  }

  private mutating func fillWithMessage(_ transfer: USBTransfer) {
    let whole = messages[next]
    let count = min(whole, transfer.capacity)
    move(count, into: transfer)
    messages[next] = whole - count
    guard count == whole else { return }
    next += 1
    if shape == .paddedMessages { transfer.pad((packet - count % packet) % packet) }
    transfer.endsWithZeroPacket = isBulk && transfer.filled % packet == 0
  }

  /// Fills the transfer as far as there are bytes, because many small transfers take longer on the bus than a large
  /// one.
  private mutating func fillWithStream(_ transfer: USBTransfer) {
    while transfer.filled < transfer.capacity, hasMore() {
      move(min(bytes.count - position, transfer.capacity - transfer.filled), into: transfer)
    }
    // A full last packet must be followed by an empty one, so that the device sees the end of the message.
    transfer.endsWithZeroPacket = isBulk && transfer.filled % packet == 0 && !hasMore()
  }
}
