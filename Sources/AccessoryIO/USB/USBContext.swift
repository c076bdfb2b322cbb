// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLibusb
import Glibc
import SystemPackage

/// libusb on an I/O thread: its descriptors are watched and its events are handled there, without another thread. There
/// is one for each I/O thread, created when the first USB device is opened.
actor USBContext: IOWork, IOActor {
  /// libusb's context, which libusb allows any thread to use.
  nonisolated var pointer: OpaquePointer { storage.pointer }

  package nonisolated let io: IOThread
  private nonisolated let storage: Storage
  /// The descriptors that libusb wants watched, by number.
  private nonisolated let watched = Locked<[CInt: PollDescriptor]>([:])
  /// libusb's events will be handled in this turn of the loop.
  private(set) var isPosted = false
  /// Whose transfers libusb is handing over.
  private var waiting: [USBTransport] = []

  /// The I/O thread.
  nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Sets up libusb. Throws `ioFailure` when there is no memory or no descriptor for it.
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

  /// Keeps the pointer, and gives it back at the end.
  private struct Storage: @unchecked Sendable {
    // Sendable: libusb locks its context itself; only its events must be handled by one thread at a time, which the
    // actor sees to.
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

  /// libusb calls on the thread that opens a device.
  private nonisolated func watch(_ descriptor: CInt, _ events: CShort) {
    var interest: Interest = []
    if events & CShort(POLLIN) != 0 { interest.insert(.read) }
    if events & CShort(POLLOUT) != 0 { interest.insert(.write) }
    let entry = PollDescriptor(FileDescriptor(rawValue: descriptor), self)
    watched.withLock { $0[descriptor] = entry }
    entry.start(interest, io)
  }

  /// libusb calls when it closes a device, and, on the I/O thread, when it finds that a device is gone.
  private nonisolated func unwatch(_ descriptor: CInt) {
    guard let entry = watched.withLock({ $0.removeValue(forKey: descriptor) }) else { return }
    entry.stop(io)
    entry.owner?.vanished()
  }

  /// From now on `transport` is notified when the descriptor of its device reports that the device is gone.
  nonisolated func attach(_ transport: USBTransport, to descriptor: CInt) {
    let entry = watched.withLock { $0[descriptor] }
    entry?.owner = transport
    // It may have gone between its opening and now.
    if entry == nil || entry?.hasHungUp == true { transport.vanished() }
  }

  /// Tells no more.
  nonisolated func detach(_ descriptor: CInt) { watched.withLock { $0[descriptor] }?.owner = nil }

  // MARK: - Events

  /// Handles libusb's events once, after the events that the loop has fetched. One call serves all devices.
  fileprivate func ready() {
    guard !isPosted else { return }
    isPosted = true
    io.post(self)
  }

  /// Called by the loop.
  nonisolated func perform() { enter { $0.handleEvents() } }

  /// Lets libusb collect the finished transfers and call back, then lets the transports react to all of them. Doesn't
  /// wait.
  func handleEvents() {
    isPosted = false
    var now = timeval()
    libusb_handle_events_timeout_completed(pointer, &now, nil)
    // Done at once: as queued work it would cost another turn of the loop, with an epoll_wait.
    while let transport = waiting.popLast() { transport.enter { $0.batchEnded() } }
  }

  /// Calls `batchEnded` of `transport`, one of whose transfers libusb is just handing over, when it has handed over all.
  func awaitBatch(_ transport: USBTransport) { waiting.append(transport) }
}

/// One descriptor that libusb wants watched.
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
    // This fails only without memory; the device is then closed as if it were unplugged.
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

  /// Called by the loop.
  func ready(_ readiness: Readiness) {
    // libusb reacts to errors only. A hang-up can come without an error, and epoll would report it again and again.
    if readiness.contains(.hangUp) {
      state.withLock { $0.hasHungUp = true }
      context.enter { $0.hungUp(self) }
      owner?.vanished()
    }
    context.enter { $0.ready() }
  }
}

extension USBContext {
  /// Stops watching a descriptor that would be ready for ever.
  fileprivate func hungUp(_ entry: PollDescriptor) { entry.stop(io) }
}
