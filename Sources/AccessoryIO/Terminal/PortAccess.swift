// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

/// Whether a device can be opened, found out without opening it.
public struct PortAccess: Sendable, Hashable {
  /// The error with which opening would fail, for lack of permission or because there is no device; nil when it is
  /// allowed.
  public var refusal: AccessoryError?
  /// The process that has it open, if it is visible: "picocom (pid 4711)".
  public var holder: String?

  /// Looks at the file of `address`. May block: call it where that is allowed. A simulator's own process isn't
  /// reported.
  public init(_ address: DeviceAddress, isSimulated: Bool = false) {
    // For a network address only connecting would tell.
    guard let path = address.file else { return }
    if access(path, R_OK | W_OK) != 0 {
      refusal = PortDiagnosis.error(opening: path, label: path, Errno(rawValue: errno))
    }
    var file = stat()
    guard stat(path, &file) == 0, file.st_mode & S_IFMT == S_IFCHR else { return }
    let process = ProcessTable.lockHolder(of: file) ?? (isSimulated ? nil : ProcessTable.opener(of: file))
    holder = process.map(String.init(describing:))
  }
}
