// SPDX-License-Identifier: Apache-2.0

import CLibusb

/// A libusb transfer and its buffer, which are reused.
///
/// Used by one thread at a time: the I/O thread, and then the setup queue, which frees it.
final class USBTransfer {
  /// How a transfer ended.
  enum Outcome {
    case completed, cancelled, gone, stalled, failed
  }

  private let transfer: UnsafeMutablePointer<libusb_transfer>
  private let buffer: UnsafeMutableRawBufferPointer
  private unowned(unsafe) let owner: USBTransport
  /// True while the transfer is with libusb, which will call back.
  private(set) var isPending = false

  /// The size of the buffer in bytes.
  var capacity: Int { buffer.count }
  /// The number of bytes that the last submission carried.
  var count: Int { min(max(0, Int(transfer.pointee.actual_length)), buffer.count) }
  /// The number of bytes in the buffer for the device.
  private(set) var filled = 0
  /// The number of these bytes without padding.
  private var payload = 0
  /// Whether an empty packet follows, which shows the device where the message ends.
  var endsWithZeroPacket = false
  /// The number of payload bytes that the device has taken.
  var taken: Int { min(count, payload) }
  /// The number of bytes that were submitted.
  var length: Int { Int(transfer.pointee.length) }
  /// The bytes that the last submission received.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[..<count]) }
  /// True for a transfer from the device to the host.
  var isInput: Bool { transfer.pointee.endpoint & 0x80 != 0 }

  /// A transfer for an endpoint of `handle`. `owner` must live for as long as the transfer is pending.
  init?(_ handle: OpaquePointer, _ endpoint: USBEndpointDescription, capacity: Int, owner: USBTransport) {
    guard let transfer = libusb_alloc_transfer(0) else { return nil }
    self.transfer = transfer
    self.owner = owner
    buffer = .allocate(byteCount: capacity, alignment: 64)
    transfer.pointee.dev_handle = handle
    transfer.pointee.endpoint = endpoint.address
    transfer.pointee.type = UInt8(
      (endpoint.transfer == .bulk ? LIBUSB_TRANSFER_TYPE_BULK : LIBUSB_TRANSFER_TYPE_INTERRUPT).rawValue)
    transfer.pointee.buffer = buffer.bindMemory(to: UInt8.self).baseAddress
    transfer.pointee.timeout = 0
    transfer.pointee.callback = { transfer in
      guard let me = transfer?.pointee.user_data else { return }
      Unmanaged<USBTransfer>.fromOpaque(me).takeUnretainedValue().called()
    }
    transfer.pointee.user_data = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit {
    libusb_free_transfer(transfer)
    buffer.deallocate()
  }

  /// Asks for up to `length` bytes. Returns libusb's error, 0 for none.
  func receive(_ length: Int) -> CInt { submit(length, addsZeroPacket: false) }

  /// Empties the buffer, to fill it again.
  func clear() { (filled, payload, endsWithZeroPacket) = (0, 0, false) }

  /// Appends bytes, for which there must be room.
  func append(_ bytes: UnsafeRawBufferPointer) {
    UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]).copyMemory(from: bytes)
    filled += bytes.count
    payload += bytes.count
  }

  /// Appends `count` zeros as padding.
  func pad(_ count: Int) {
    UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<(filled + count)])
      .initializeMemory(as: UInt8.self, repeating: 0)
    filled += count
  }

  /// Submits the bytes in the buffer. Returns libusb's error, 0 for none.
  func send() -> CInt { submit(filled, addsZeroPacket: endsWithZeroPacket) }

  /// Submits the bytes that the device didn't take again. Returns libusb's error, 0 for none.
  func sendRest() -> CInt {
    let (sent, length) = (count, length)
    payload -= min(sent, payload)
    if sent > 0, sent < length {
      UnsafeMutableRawBufferPointer(rebasing: buffer[..<(length - sent)])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[sent..<length]))
    }
    return submit(max(0, length - sent), addsZeroPacket: nil)
  }

  private func submit(_ length: Int, addsZeroPacket: Bool?) -> CInt {
    transfer.pointee.length = CInt(length)
    transfer.pointee.actual_length = 0
    if let addsZeroPacket {
      transfer.pointee.flags = addsZeroPacket ? UInt8(LIBUSB_TRANSFER_ADD_ZERO_PACKET.rawValue) : 0
    }
    isPending = true
    let result = libusb_submit_transfer(transfer)
    if result != 0 { isPending = false }
    return result
  }

  /// A handle with which another thread can cancel the transfer.
  var cancellation: Cancellation { Cancellation(transfer: transfer) }

  /// Cancels a transfer; libusb still calls back. The kernel blocks the caller until the host controller has responded,
  /// so this runs on the setup queue.
  struct Cancellation: @unchecked Sendable {
    // Sendable: libusb allows this call from any thread while the transfer is allocated, pending or not.
    fileprivate let transfer: UnsafeMutablePointer<libusb_transfer>

    func run() { libusb_cancel_transfer(transfer) }
  }

  private func called() {
    isPending = false
    let outcome: Outcome =
      switch transfer.pointee.status {
      case LIBUSB_TRANSFER_COMPLETED: .completed
      case LIBUSB_TRANSFER_CANCELLED: .cancelled
      case LIBUSB_TRANSFER_NO_DEVICE: .gone
      case LIBUSB_TRANSFER_STALL: .stalled
      default: .failed  // an error on the bus, more bytes than asked for, or a timeout that was never set
      }
    // libusb calls back from the function that handles its events, which runs on the I/O thread.
    nonisolated(unsafe) let me = self
    owner.enter((me, outcome)) { $0.ended($1.0, $1.1) }
  }
}
