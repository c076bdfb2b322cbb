// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLibusb
import Glibc
import SystemPackage

/// libusb on an I/O thread: the thread watches libusb's descriptors and handles its events, so libusb needs no other
/// thread. Each I/O thread has one context, created when the first USB device is opened.
actor USBContext: IOWork, IOActor {
  /// libusb's context. libusb allows any thread to use it.
  nonisolated var pointer: OpaquePointer { storage.pointer }

  package nonisolated let io: IOThread
  private nonisolated let storage: Storage
  /// The descriptors that libusb wants watched, by number.
  private nonisolated let watched = Locked<[CInt: PollDescriptor]>([:])
  /// libusb's events will be handled in this turn of the loop.
  private(set) var isPosted = false
  /// The transports whose transfers libusb is delivering.
  private var waiting: [USBTransport] = []

  /// The I/O thread.
  nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Initializes libusb. Throws `ioFailure` when it gets no memory or no descriptor.
  init(io: IOThread) throws(AccessoryError) {
    self.io = io
    storage = try Storage()
    // The context lives as long as its thread, so libusb may keep a plain pointer to it.
    let me = Unmanaged.passUnretained(self).toOpaque()
    libusb_set_pollfd_notifiers(
      storage.pointer,
      { descriptor, events, me in
        Unmanaged<USBContext>.fromOpaque(me!).takeUnretainedValue().watch(descriptor, events)
      },
      { descriptor, me in Unmanaged<USBContext>.fromOpaque(me!).takeUnretainedValue().unwatch(descriptor) }, me)
    guard let first = libusb_get_pollfds(storage.pointer) else { return }
    var next = first
    while let entry = next.pointee {
      watch(entry.pointee.fd, entry.pointee.events)
      next += 1
    }
    libusb_free_pollfds(first)
  }

  /// Owns the pointer.
  private struct Storage: @unchecked Sendable {
    // Sendable: libusb locks its context itself. Only one thread at a time may handle its events, and the actor ensures
    // that.
    let pointer: OpaquePointer

    init() throws(AccessoryError) {
      var context: OpaquePointer?
      let result = shim_libusb_no_discovery() == 0 ? libusb_init(&context) : CInt(LIBUSB_ERROR_NOT_SUPPORTED.rawValue)
      guard result == 0, let context else {
        throw AccessoryError(libusb: result, "setting up libusb", label: "libusb")
      }
      pointer = context
    }
  }

  // MARK: - Descriptors

  /// libusb calls this on the thread that opens a device.
  private nonisolated func watch(_ descriptor: CInt, _ events: CShort) {
    var interest: Interest = []
    if events & CShort(POLLIN) != 0 { interest.insert(.read) }
    if events & CShort(POLLOUT) != 0 { interest.insert(.write) }
    let entry = PollDescriptor(FileDescriptor(rawValue: descriptor), self)
    watched.withLock { $0[descriptor] = entry }
    entry.start(interest, io)
  }

  /// libusb calls this when it closes a device and, on the I/O thread, when it finds that a device is gone.
  private nonisolated func unwatch(_ descriptor: CInt) {
    guard let entry = watched.withLock({ $0.removeValue(forKey: descriptor) }) else { return }
    entry.stop(io)
    entry.owner?.vanished()
  }

  /// Notifies `transport` from now on when the descriptor of its device reports that the device is gone.
  nonisolated func attach(_ transport: USBTransport, to descriptor: CInt) {
    let entry = watched.withLock { $0[descriptor] }
    entry?.owner = transport
    // The device may have gone between its opening and now.
    if entry == nil || entry?.hasHungUp == true { transport.vanished() }
  }

  /// Stops notifying the transport of this descriptor.
  nonisolated func detach(_ descriptor: CInt) { watched.withLock { $0[descriptor] }?.owner = nil }

  // MARK: - Events

  /// Handles libusb's events once, after the events that the loop has fetched. One call serves all devices.
  fileprivate func ready() {
    guard !isPosted else { return }
    isPosted = true
    io.post(self)
  }

  /// The I/O thread calls this.
  nonisolated func perform() { enter { $0.handleEvents() } }

  /// Lets libusb deliver the finished transfers, then lets the transports react to all of them. Doesn't wait.
  func handleEvents() {
    isPosted = false
    var now = timeval()
    libusb_handle_events_timeout_completed(pointer, &now, nil)
    // Done at once: as posted work, it would cost another turn of the loop, with an epoll_wait.
    while let transport = waiting.popLast() { transport.enter { $0.batchEnded() } }
  }

  /// Calls `batchEnded` of `transport` after libusb has delivered all finished transfers. Called while libusb delivers
  /// a transfer of `transport`.
  func awaitBatch(_ transport: USBTransport) { waiting.append(transport) }
}

/// A descriptor that libusb wants watched.
private final class PollDescriptor: EventHandler {
  private struct State {
    var token: EventToken?
    weak var owner: USBTransport?
    var hasHungUp = false
  }

  private let descriptor: FileDescriptor
  private let context: USBContext
  private let state = Locked(State())

  init(_ descriptor: FileDescriptor, _ context: USBContext) {
    self.descriptor = descriptor
    self.context = context
  }

  var owner: USBTransport? {
    get { state.withLock { $0.owner } }
    set { state.withLock { $0.owner = newValue } }
  }

  var hasHungUp: Bool { state.withLock { $0.hasHungUp } }

  func start(_ interest: Interest, _ io: IOThread) {
    // This fails only for lack of memory; the device is then closed as if it were unplugged.
    let token = try? io.watch(descriptor, for: interest, handler: self)
    state.withLock { state in
      state.token = token
      state.hasHungUp = token == nil
    }
  }

  func stop(_ io: IOThread) {
    let token = state.withLock { state in
      defer { state.token = nil }
      return state.token
    }
    if let token { io.unwatch(descriptor, token) }
  }

  /// The I/O thread calls this when the descriptor is ready.
  func ready(_ readiness: Readiness) {
    // libusb reacts to errors only. A hang-up can occur without an error, and epoll would report it again and again.
    if readiness.contains(.hangUp) {
      state.withLock { $0.hasHungUp = true }
      context.enter { $0.hungUp(self) }
      owner?.vanished()
    }
    context.enter { $0.ready() }
  }
}

extension USBContext {
  /// Stops watching a descriptor that would otherwise stay ready for ever.
  fileprivate func hungUp(_ entry: PollDescriptor) { entry.stop(io) }
}
