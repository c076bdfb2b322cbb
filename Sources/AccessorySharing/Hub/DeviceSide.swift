// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink

/// The device that is attached to a hub, until it is gone.
final class AttachedDevice {
  let transport: any Transport
  /// The resets of the device's board.
  let resets: [LineReset]
  /// Whether the device takes no client's bytes.
  let isReadOnly: Bool
  let onEnd: @Sendable (AccessoryError?) -> Void
  /// The sharing by frames; nil when the device is shared by bytes.
  fileprivate(set) var frames: FrameSharing?
  /// Whether the line's state was read and the clients' changes were repeated, so that bytes may be sent to the device.
  fileprivate(set) var isReady = false
  /// Whether the device takes no more bytes, because it is gone or was closed.
  fileprivate var isClosed = false
  /// When all bytes given to the device are sent, calculated from the baud rate.
  private(set) var busyUntil = MonotonicTime(nanoseconds: .min)
  /// The session that made the driver's opening exchange. It is stored because its release would close the transport.
  private let session: AccessorySession?

  init(_ shared: SharedDevice, _ onEnd: @escaping @Sendable (AccessoryError?) -> Void) {
    (transport, session, resets, isReadOnly) = (shared.transport, shared.session, shared.resets, shared.isReadOnly)
    self.onEnd = onEnd
  }

  /// Offers bytes to the device's queue. Returns false when there is no room for them.
  func offer(_ bytes: [UInt8], now: MonotonicTime) -> Bool {
    if transport.output.offer(bytes) == .full { return false }
    if transport.line != nil { busyUntil = max(busyUntil, now) + transport.timing.time(of: bytes.count) }
    return true
  }
}

/// The device's end of a hub: the device that comes and goes, and what it sends.
final class DeviceSide: HubPart {
  private(set) var attached: AttachedDevice?
  /// Whether a device was attached before. Before the first device, clients' bytes wait for it; later they are discarded while there is
  /// no device.
  private(set) var hasHadDevice = false
  /// When the device has last sent bytes, or was opened.
  private(set) var lastArrival = MonotonicTime(nanoseconds: .min)
  /// Whether `drain` is running.
  private var isDraining = false
  private var buffer: [UInt8] = []
  private var messages: [Int] = []
  private var watchers: [@Sendable (Bool) -> Void] = []

  /// The line of the device; nil if there is no device, or it has no line.
  var control: (any LineControl)? { attached?.transport.line }

  /// The device with this transport, if it isn't gone.
  func attached(_ transport: any Transport) -> AttachedDevice? { attached?.transport === transport ? attached : nil }

  func watch(_ body: @escaping @Sendable (Bool) -> Void) {
    watchers.append(body)
    if attached != nil { body(true) }
  }

  func attach(_ shared: SharedDevice, _ onEnd: @escaping @Sendable (AccessoryError?) -> Void) {
    let transport = shared.transport
    guard !clients.isClosed, attached == nil else {
      transport.beginClose()
      return onEnd(nil)
    }
    let new = AttachedDevice(shared, onEnd)
    attached = new
    hasHadDevice = true
    lastArrival = clock.now
    report(.deviceCame)
    if let routing = shared.routing {
      new.frames = FrameSharing(routing, of: new, parts)
      for id in clients.all.keys.sorted() { new.frames?.add(id) }
    }
    transport.output.onSpace(hub.handler { $0.requests.deviceHasSpace(transport) })
    let onClosed = hub.handler { $0.device.wasClosed(transport) }
    let onOwnersClose = hub.handler { $0.device.wasClosed(transport, byOwner: true) }
    transport.output.onClosed { $0 == nil ? onOwnersClose() : onClosed() }
    transport.input.onReadableOnIOThread(hub.handler { if $0.device.attached(transport) != nil { $0.device.drain() } })
    for watcher in watchers { watcher(true) }
    if let control = transport.line { line.opened(transport, control) } else { new.isReady = true }
    requests.deviceHasSpace(transport)
  }

  /// The device's line is set: bytes may be sent to it.
  func becomeReady(_ device: AttachedDevice) {
    device.isReady = true
    requests.deviceHasSpace(device.transport)
  }

  private func wasClosed(_ transport: any Transport, byOwner: Bool = false) {
    guard let device = attached(transport) else { return }
    device.isClosed = true
    // The owner doesn't wait until the router has handled all that clients have sent.
    if byOwner, device.frames != nil { return ended(nil) }
    drain()
  }

  /// Takes what the device has sent, and sends it to the clients.
  func drain() {
    // A nested call, made when a reply is sent or a client is removed, would deliver later bytes before all clients got these.
    guard !isDraining, let device = attached else { return }
    isDraining = true
    defer { isDraining = false }
    let input = device.transport.input
    // The end of a device isn't delayed, and neither are the bytes before it.
    while attached === device, device.isClosed || !delivery.isHeldBack, device.frames?.mayTakeFromDevice ?? true {
      switch input.take(into: &buffer, messages: &messages) {
      case .nothing: return
      case .bytes:
        lastArrival = clock.now
        if let frames = device.frames {
          let bytes = buffer
          // The router's queue keeps the bytes; the next ones need a buffer of their own.
          buffer = []
          frames.receive(bytes, messages: input.keepsMessages ? messages : nil)
        } else {
          delivery.deliver(buffer)
        }
      case .end(let error):
        if device.frames?.endWaits(error) != true { ended(error) }
        return
      }
    }
  }

  /// The device is gone, and everything that it sent was taken.
  func ended(_ error: AccessoryError?) {
    guard let device = remove() else { return }
    requests.deviceIsGone()
    for (id, end) in device.frames?.asked ?? [:] { requests.linger(id, since: end) }
    device.transport.beginClose()
    if let error { report(.deviceWent(error.message)) }
    for watcher in watchers { watcher(false) }
    line.closed()
    for client in clients.all.values.sorted(by: { $0.id < $1.id }) {
      client.intake.isWaitingForDevice = false
      if rules.unplug == .hangUp {
        clients.dismiss(client, error == nil ? nil : "the device is gone")
      } else {
        requests.work(client)
      }
    }
    device.onEnd(error)
  }

  /// Takes the device from the hub. Unanswered requests by frames get no reply.
  private func remove() -> AttachedDevice? {
    defer { attached = nil }
    attached?.frames?.stop()
    return attached
  }

  /// Takes the device from a hub that is closed.
  func close() -> AttachedDevice? {
    watchers = []
    return remove()
  }
}
