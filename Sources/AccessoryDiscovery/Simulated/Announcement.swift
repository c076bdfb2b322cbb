// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import FoundationEssentials
import Glibc
import SystemPackage

/// The data that a simulator announces: the contents of its file, as JSON.
public struct Announcement: Codable, Sendable, Hashable {
  /// The device node to open.
  public var path: String
  /// A symbolic link that the simulator maintains to the node.
  public var link: String?
  /// The driver for its protocol; empty if there is none.
  public var driver: String
  /// The name that the simulated accessory reports.
  public var name: String?
  /// The manufacturer that it reports.
  public var manufacturer: String?
  /// The product name that it reports.
  public var model: String?
  /// The serial number that it reports.
  public var serial: String?
  /// The firmware version that it reports.
  public var firmware: String?
  /// The hardware version that it reports.
  public var hardware: String?
  /// A random number for each announcement, which distinguishes a restarted simulator from the previous one.
  var instance: UInt64?

  /// An announcement with these values.
  public init(
    path: String, link: String? = nil, driver: String, name: String? = nil, manufacturer: String? = nil,
    model: String? = nil, serial: String? = nil
  ) {
    self.path = path
    self.link = link
    self.driver = driver
    self.name = name
    self.manufacturer = manufacturer
    self.model = model
    self.serial = serial
  }

  /// The announced device.
  public var device: Device {
    var device = Device(
      DeviceAddress(path) ?? .node(path), link: link, source: .simulator, driver: driver.isEmpty ? nil : driver,
      name: name,
      manufacturer: manufacturer,
      model: model, serialNumber: serial)
    device.firmwareRevision = firmware
    device.hardwareRevision = hardware
    return device
  }
}

/// The announcement file of a simulator, in a directory that other programs watch. The announcement lasts as long as
/// this process.
///
/// The file is locked while its owner runs. So the file of a killed simulator is recognized by its free lock; watchers
/// are notified when the kernel closes the file.
public final class AnnouncementFile: Sendable {
  private let path: String
  /// The locked file; nil once it is removed.
  private let descriptor: Locked<FileDescriptor?>

  /// The largest file that is read, in bytes.
  static let sizeLimit = 16_384

  /// Creates the announcement file, in the user's own directory unless another one is given. The file appears complete
  /// and locked. Throws the error of creating or writing it.
  public init(_ announcement: Announcement, name: String, directory: String? = nil) throws(AccessoryError) {
    let directory = if let directory { directory } else { try RuntimeDirectory.simulated() }
    var announcement = announcement
    announcement.instance = .random(in: 0 ... .max)
    let path = "\(directory)/\(name).json"
    let temporary = "\(directory)/.\(name).\(getpid())"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw AccessoryError(errno: Errno(rawValue: errno), "making \(temporary)") }
    let isWritten =
      lock(descriptor, shared: false) && Self.write(announcement, to: descriptor) && rename(temporary, path) == 0
    guard isWritten else {
      let error = AccessoryError(errno: Errno(rawValue: errno), "writing \(path)")
      unlink(temporary)
      close(descriptor)
      throw error
    }
    self.path = path
    self.descriptor = Locked(FileDescriptor(rawValue: descriptor))
  }

  private static func write(_ announcement: Announcement, to descriptor: CInt) -> Bool {
    guard let data = try? JSONEncoder().encode(announcement) else { return false }
    return data.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) == $0.count }
  }

  /// Removes the announcement. The second call does nothing: by then the descriptor's number may be another file's, and the name that
  /// of another simulator's announcement.
  public func remove() {
    let last = descriptor.withLock { descriptor in
      defer { descriptor = nil }
      return descriptor
    }
    guard let last else { return }
    unlink(path)
    close(last.rawValue)
  }

  /// The announcement with that name, if its owner still runs. The directory is the user's own unless another one is
  /// given.
  public static func living(_ name: String, directory: String? = nil) -> Announcement? {
    guard let directory = directory ?? (try? RuntimeDirectory.simulated()) else { return nil }
    return read("\(directory)/\(name).json")
  }

  /// The name of the announcement of a simulator at a pseudo-terminal, such as "pts-7": "/dev/pts/7" belongs to one simulator at a
  /// time.
  package static func name(ofTerminal path: String) -> String { "pts-" + path.drop { !$0.isNumber } }

  /// The announcement of the simulator at the pseudo-terminal `path`, if it still runs.
  package static func living(ofTerminal path: String) -> Announcement? { living(name(ofTerminal: path)) }

  /// Reads an announcement file. Returns nil when its owner has ended (the file is then removed), when the file belongs
  /// to another user, or when its contents are invalid.
  static func read(_ path: String) -> Announcement? {
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var file = stat()
    guard fstat(descriptor, &file) == 0, file.st_mode & S_IFMT == S_IFREG, file.st_uid == geteuid(),
      file.st_size <= sizeLimit
    else { return nil }
    if lock(descriptor, shared: true) {
      // The file is left alone if another simulator of the same name has replaced it meanwhile.
      var present = stat()
      if lstat(path, &present) == 0, present.st_ino == file.st_ino { unlink(path) }
      return nil
    }
    guard let bytes = try? SmallFile.read(FileDescriptor(rawValue: descriptor), limit: sizeLimit) else { return nil }
    return try? JSONDecoder().decode(Announcement.self, from: Data(bytes))
  }
}

private func lock(_ descriptor: CInt, shared: Bool) -> Bool {
  (try? FileLock.take(FileDescriptor(rawValue: descriptor), shared: shared)) != nil
}
