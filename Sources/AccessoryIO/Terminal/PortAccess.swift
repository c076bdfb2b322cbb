// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

/// Whether a device can be had, found without opening it.
public struct PortAccess: Sendable, Hashable {
  /// What opening would fail with for want of permission, or because nothing is there; nil when the user may.
  public var refusal: AccessoryError?
  /// The process that has it, as far as one can see: "picocom (pid 4711)".
  public var holder: String?

  /// Looks at the file of `address`. May block: call it where that is allowed. A simulator has its own port open, which
  /// makes it no holder.
  public init(_ address: DeviceAddress, isSimulated: Bool = false) {
    // Whether a place on the network may be connected to, only connecting tells.
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
