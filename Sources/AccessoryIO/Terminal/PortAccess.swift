// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

/// Whether a device can be opened, checked without opening it.
public struct PortAccess: Sendable, Hashable {
  /// The error with which opening would fail, for lack of permission or because the device isn't there; nil when
  /// neither is the case.
  public var refusal: AccessoryError?
  /// The process that has the device open, if it is visible: "picocom (pid 4711)".
  public var holder: String?

  /// Checks the file of `address`. May block: call it on a thread that may wait. With `isSimulated`, the simulator's
  /// own process isn't reported.
  public init(_ address: DeviceAddress, isSimulated: Bool = false) {
    self.init(address, isSimulated: isSimulated, locks: FileLocks())
  }

  /// The same, with locks that were read before, once for many devices.
  package init(_ address: DeviceAddress, isSimulated: Bool, locks: FileLocks) {
    // A network address can be checked only by connecting.
    guard let path = address.file else { return }
    if access(path, R_OK | W_OK) != 0 {
      refusal = PortDiagnosis.error(opening: path, label: path, Errno(rawValue: errno))
    }
    var file = stat()
    guard stat(path, &file) == 0, file.st_mode & S_IFMT == S_IFCHR else { return }
    let process = locks.holder(of: file) ?? (isSimulated ? nil : ProcessTable.opener(of: file))
    holder = process.map(String.init(describing:))
  }
}
