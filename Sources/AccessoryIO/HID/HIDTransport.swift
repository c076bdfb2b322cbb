// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import Glibc
import SystemPackage

/// A human interface device, opened by its hidraw node: it is asked for feature reports, and sends input reports by itself. It carries
/// no bytes.
///
/// The kernel's own driver keeps the device, so other programs that use hidraw (UPower) can be there at the same time. Programs that
/// take the device away from the kernel (NUT's `usbhid-ups`, by libusb) make its node vanish, which ends this as an unplug does.
///
/// Input reports are read on the I/O thread. Feature reports are asked for on the device's setup queue, where the kernel waits for the
/// device: up to five seconds each.
public actor HIDTransport: DeviceChannel, EventHandler, IOActor {
  /// The device's name for people.
  public nonisolated let label: String
  /// What the device says of its reports.
  public nonisolated let descriptor: HIDReportDescriptor
  /// Who made it, as the kernel has it.
  public nonisolated let maker: HIDMaker
  /// The input reports from now on, each with its number in front, which is 0 where the device doesn't number its reports. For one
  /// consumer; one that is slow loses the oldest. Throws when the device goes, and ends when this program closes it.
  public nonisolated let reports: EventStream<[UInt8]>

  package nonisolated let io: IOThread
  private nonisolated let setup: SetupQueue
  private nonisolated let file: FileDescriptor
  private nonisolated let features: any HIDFeatures
  private nonisolated let tellsByItself: Bool
  private nonisolated let continuation: AsyncThrowingStream<[UInt8], any Error>.Continuation
  private var token: EventToken?
  private let closed = OneShot<Void>()
  /// With what it has ended; nil while the device is open.
  private let outcome = Locked<AccessoryError?>(nil)
  private var isOver: Bool { outcome.withLock { $0 != nil } }

  /// The most reports that are kept for a slow consumer.
  private static let reportLimit = 64
  /// The most reads for one event, so that a busy device doesn't delay others.
  private static let readsPerEvent = 16

  /// The I/O thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Reports.
  public static let kind = ChannelKind.reports
  /// What it is, for errors.
  public static let device = "human interface device"
  /// How it is used, for errors.
  public static let manner = "is asked by HID reports"

  /// By the node of hidraw, or by that of usbfs for a device that the kernel has no driver for.
  public static func source(of address: DeviceAddress) -> ChannelSource<HIDTransport>? {
    switch address {
    case .hidraw(let path):
      { request throws(AccessoryError) in try await open(path: path, label: request.label, io: request.io) }
    case .usb(let path):
      { request throws(AccessoryError) in try await open(usb: path, label: request.label, io: request.io) }
    default: nil
    }
  }

  /// Opens the hidraw node at `path`. Throws `notFound`, `permissionDenied`, `disconnected`, and `unsupported` when it is no node of
  /// hidraw.
  public static func open(
    path: String, label: String? = nil, io: IOThread = .shared
  ) async throws(AccessoryError) -> HIDTransport {
    let label = label ?? path
    let setup = SetupQueue(label: path)
    let (file, bytes, maker) = try await setup.run { () throws(AccessoryError) in
      let (file, bytes) = try openNode(path, label)
      return (file, bytes, HIDMaker(of: file))
    }
    return HIDTransport(file, HIDReportDescriptor(bytes), maker, label: label, io: io, setup: setup)
  }

  /// An open, non-blocking hidraw node, and what the device says of its reports.
  static func openNode(_ path: String, _ label: String) throws(AccessoryError) -> (FileDescriptor, [UInt8]) {
    let file: FileDescriptor
    do throws(Errno) {
      file = try SystemCall.open(path, O_RDWR | O_NONBLOCK)
    } catch {
      throw PortDiagnosis.error(opening: path, label: label, error)
    }
    do throws(Errno) {
      return (file, try SystemCall.ioctl(HIDRequest.Descriptor(), on: file))
    } catch {
      SystemCall.close(file)
      guard error == .inappropriateIOCTLForDevice else { throw AccessoryError(device: error, "opening \(label)") }
      throw AccessoryError(.unsupported, "\(label) is no human interface device, which has a node like /dev/hidraw0")
    }
  }

  /// Opens the usbfs node at `path`, of a device that the kernel has no driver for: kernels take no report descriptor of more than 4,096
  /// bytes. Its first HID interface is claimed, and asked by control transfers. Its input reports are not read: what changes is found by
  /// asking. Throws what `open` throws, and `busy` where a driver or a program has the interface.
  package static func open(
    usb path: String, label: String, io: IOThread = .shared
  ) async throws(AccessoryError) -> HIDTransport {
    let setup = SetupQueue(label: path)
    let (file, bytes, maker, features) = try await setup.run { () throws(AccessoryError) in
      let node = try USBNode.open(USBTransportConfiguration(path: path, label: label))
      let file = node.descriptor
      do throws(AccessoryError) {
        guard let (interface, length) = USBDescriptorReader.reportDescriptors(node.descriptors).first else {
          throw AccessoryError(.unsupported, "\(label) is no human interface device")
        }
        let features = USBHIDFeatures(file: file, interface: interface)
        let bytes: [UInt8]
        do throws(Errno) {
          try SystemCall.ioctl(USBRequest.Claim(interface: interface), on: file)
          bytes = try features.descriptor(length: length)
        } catch .resourceBusy {
          throw AccessoryError(
            .busy, code: .errno(Errno.resourceBusy.rawValue),
            "a driver or another program has the interface \(interface) of \(label): with the kernel's driver it has a node of "
              + "hidraw")
        } catch {
          throw failure(error, "asking \(label) for its report descriptor")
        }
        return (file, bytes, HIDMaker(of: file, isUSB: true), features)
      } catch {
        SystemCall.close(file)
        throw error
      }
    }
    return HIDTransport(
      file, HIDReportDescriptor(bytes), maker, label: label, io: io, setup: setup, features: features,
      tellsByItself: false)
  }

  /// A channel over an open, non-blocking `file`, which it closes when it ends. `features` reads and writes the feature reports; nil
  /// means by the kernel. `tellsByItself`: input reports are read from `file`.
  package init(
    _ file: FileDescriptor, _ descriptor: HIDReportDescriptor, _ maker: HIDMaker = HIDMaker(), label: String,
    io: IOThread, setup: SetupQueue? = nil, features: (any HIDFeatures)? = nil, tellsByItself: Bool = true
  ) {
    self.tellsByItself = tellsByItself
    self.features = features ?? KernelHIDFeatures(file: file)
    (self.file, self.descriptor, self.maker, self.label, self.io) = (file, descriptor, maker, label, io)
    self.setup = setup ?? SetupQueue(label: label)
    let (stream, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream(
      bufferingPolicy: .bufferingNewest(Self.reportLimit))
    reports = EventStream(stream)
    self.continuation = continuation
    // The closure keeps the channel until it is watched; then `end` runs even if nothing else uses it any more.
    io.post { self.enter { $0.start() } }
  }

  private func start() {
    guard !isOver else { return }
    do throws(Errno) {
      token = try io.watch(file, for: tellsByItself ? .read : [], handler: self)
    } catch {
      end(AccessoryError(errno: error, "watching \(label)"))
    }
  }

  // MARK: - Input reports

  /// The I/O thread calls this when the descriptor is ready.
  package nonisolated func ready(_ readiness: Readiness) { enter(readiness) { $0.handle($1) } }

  private func handle(_ readiness: Readiness) {
    if readiness.contains(.readable) { read() }
    if !isOver, !readiness.isDisjoint(with: [.hangUp, .error]) { end(.disconnected(label)) }
  }

  private func read() {
    for _ in 0..<Self.readsPerEvent {
      do throws(Errno) {
        let report = try withReadBuffer { buffer throws(Errno) -> [UInt8]? in
          let count = try SystemCall.read(file, into: buffer)
          guard count > 0 else { return nil }
          let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
          return descriptor.hasNumberedReports ? Array(bytes) : [0] + Array(bytes)
        }
        guard let report else { return end(.disconnected(label)) }
        continuation.yield(report)
      } catch .wouldBlock {
        return
      } catch {
        return end(.disconnected(label, code: .errno(error.rawValue)))
      }
    }
  }

  // MARK: - Feature reports

  /// Asks for the feature report `number`. It begins with its number, also where that is 0. Devices refuse a report once and answer the
  /// next time, so it is asked for twice. Throws `refused`, `timedOut`, `unsupported` where the descriptor has no such report,
  /// `disconnected`, `cancelled`.
  public nonisolated func feature(_ number: UInt8) async throws(AccessoryError) -> [UInt8] {
    let report = HIDReportDescriptor.Report(kind: .feature, number: number)
    guard let size = descriptor.byteCount(of: report) else {
      throw AccessoryError(.unsupported, "\(label) has no feature report \(number)")
    }
    let ask = { () async throws(AccessoryError) in
      try await self.run("asking \(self.label) for the report \(number)") { features throws(Errno) in
        try features.get(number, size: size)
      }
    }
    do throws(AccessoryError) {
      return try await ask()
    } catch {
      guard error.kind == .refused else { throw error }
      return try await ask()
    }
  }

  /// Sends a feature report, which begins with its number. Throws what `feature` throws.
  public nonisolated func setFeature(_ report: [UInt8]) async throws(AccessoryError) {
    guard let number = report.first,
      descriptor.byteCount(of: HIDReportDescriptor.Report(kind: .feature, number: number)) == report.count
    else { throw AccessoryError(.unsupported, "\(label) has no such feature report") }
    try await run("setting the report \(number) of \(label)") { features throws(Errno) in try features.set(report) }
  }

  private nonisolated func run<Reply: Sendable>(
    _ action: String, _ body: @escaping @Sendable (any HIDFeatures) throws(Errno) -> Reply
  ) async throws(AccessoryError) -> Reply {
    try await setup.run { [self] () throws(AccessoryError) in
      // The descriptor is closed on the same queue, so it is still this device's.
      if let error = outcome.withLock({ $0 }) { throw error }
      do throws(Errno) {
        return try body(features)
      } catch {
        throw Self.failure(error, action)
      }
    }
  }

  /// A stalled endpoint is EPIPE, and says that the device doesn't have the report now.
  static func failure(_ errno: Errno, _ action: String) -> AccessoryError {
    switch errno {
    case .brokenPipe, .ioError, .protocolError:
      AccessoryError(.refused, code: .errno(errno.rawValue), "\(action): the device refused it")
    case .timedOut: AccessoryError(.timedOut, code: .errno(errno.rawValue), "\(action): the device didn't answer")
    default: AccessoryError(device: errno, action)
    }
  }

  // MARK: - Ending

  /// Waits for the end, and takes the input reports until then.
  public nonisolated func ended() async throws(AccessoryError) { for try await _ in reports {} }

  private func end(_ error: AccessoryError?) {
    guard !isOver else { return }
    outcome.withLock { $0 = error ?? .closed(label) }
    if let token { io.unwatch(file, token) }
    token = nil
    setup.post { [file, closed] in
      SystemCall.close(file)
      closed.finish()
    }
    continuation.finish(throwing: error)
  }

  /// Closes the device. Returns when that is done; a feature report that was asked for is waited for.
  public func close() async {
    end(nil)
    await closed.value()
  }

  /// Starts `close()` without waiting for it.
  public nonisolated func beginClose() { io.post { self.enter { $0.end(nil) } } }

  /// Ends it with `disconnected`.
  public nonisolated func deviceWasRemoved() { io.post { self.enter { $0.end(.disconnected($0.label)) } } }
}
