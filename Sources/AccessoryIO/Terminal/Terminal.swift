// SPDX-License-Identifier: Apache-2.0

import CLinuxShims
import Glibc
import SystemPackage

/// A terminal that is open, locked, raw and set, and what it takes to put it back.
///
/// Everything here may block, and runs on the device's setup queue.
struct Terminal: Sendable {
  let descriptor: FileDescriptor
  private let original: LineSettings
  /// The settings as the driver took them.
  let settings: LineSettings

  /// Opens a terminal for this process alone.
  ///
  /// The order is that of the other programs that share ports: open, the advisory lock, look whether somebody set
  /// the exclusive mode without one, set the exclusive mode. Each of the two binds programs that the other doesn't.
  init(_ configuration: TerminalConfiguration) throws(AccessoryError) {
    let label = configuration.label
    let descriptor: FileDescriptor
    do throws(Errno) {
      descriptor = try SystemCall.open(configuration.path, O_RDWR | O_NOCTTY | O_NONBLOCK)
    } catch {
      throw PortDiagnosis.error(opening: configuration.path, label: label, error)
    }
    do throws(AccessoryError) {
      (original, settings) = try Self.prepare(descriptor, configuration)
    } catch {
      SystemCall.close(descriptor)
      throw error
    }
    self.descriptor = descriptor
  }

  private static func prepare(
    _ descriptor: FileDescriptor, _ configuration: TerminalConfiguration
  ) throws(AccessoryError) -> (original: LineSettings, settings: LineSettings) {
    let label = configuration.label
    let original: LineSettings
    do throws(Errno) {
      original = try LineSettings(of: descriptor)
    } catch .inappropriateIOCTLForDevice {
      throw AccessoryError(
        .unsupported, code: .errno(ENOTTY), "\(label) is not a serial port or another terminal")
    } catch {
      throw AccessoryError(errno: error, "reading the settings of \(label)")
    }
    do throws(Errno) {
      try FileLock.take(descriptor)
    } catch .wouldBlock {
      throw PortDiagnosis.busy(configuration.path, label: label)
    } catch {
      throw AccessoryError(errno: error, "locking \(label)")
    }
    var exclusive: CInt = 0
    _ = try? SystemCall.run(.ioctl, on: descriptor.rawValue) { shim_tiocgexcl(descriptor.rawValue, &exclusive) }
    if exclusive != 0 {
      throw PortDiagnosis.busy(configuration.path, label: label, hasLock: true)
    }
    _ = try? SystemCall.run(.ioctl, on: descriptor.rawValue) { shim_tiocexcl(descriptor.rawValue) }

    var wanted = original
    wanted.makeRaw()
    wanted.setBaudRate(configuration.baudRate)
    let actual: LineSettings
    do throws(Errno) {
      try wanted.apply(to: descriptor)
      actual = try LineSettings(of: descriptor)
    } catch {
      putBack(original, descriptor)
      throw AccessoryError(errno: error, "setting \(label) to \(configuration.baudRate) baud")
    }
    guard actual.isRaw else {
      putBack(original, descriptor)
      throw AccessoryError(.unsupported, "\(label) can't pass bytes unchanged (raw, 8 data bits, no parity)")
    }
    // What came before we opened is not for us: an answer to somebody else, or half a message.
    flush(descriptor)
    return (original, actual)
  }

  private static func flush(_ descriptor: FileDescriptor) {
    _ = try? SystemCall.run(.ioctl, on: descriptor.rawValue) { shim_tcflush(descriptor.rawValue, TCIOFLUSH) }
  }

  /// Fails when the device is gone, and then there is nothing to put back.
  private static func putBack(_ original: LineSettings, _ descriptor: FileDescriptor) {
    try? original.apply(to: descriptor)
    _ = try? SystemCall.run(.ioctl, on: descriptor.rawValue) { shim_tiocnxcl(descriptor.rawValue) }
  }

  /// Puts the settings back and closes. Discards what the device has not taken: waiting for that could take for ever.
  func release() {
    Self.flush(descriptor)
    Self.putBack(original, descriptor)
    SystemCall.close(descriptor)
  }
}

extension DescriptorTransport {
  /// Opens a terminal on a setup queue and hands it to `io`.
  ///
  /// Throws `notFound`, `permissionDenied` (with the group to join), `busy` (with the process that holds it),
  /// `unsupported` when the path is no terminal, `disconnected` when it goes away meanwhile.
  public static func open(
    _ configuration: TerminalConfiguration, io: IOThread = .shared
  ) async throws(AccessoryError) -> DescriptorTransport {
    let setup = SetupQueue(label: configuration.path)
    let terminal = try await setup.run { () throws(AccessoryError) in try Terminal(configuration) }
    return DescriptorTransport(
      descriptor: terminal.descriptor, label: configuration.label,
      timing: .serial(baudRate: terminal.settings.baudRate), io: io, setup: setup, release: terminal.release)
  }
}
