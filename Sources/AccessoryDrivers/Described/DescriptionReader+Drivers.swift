// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryDescriptions

// Descriptions beside the drivers in Swift, whose names they can't have, and as profiles.

extension DriverLibrary {
  /// The names of the drivers in Swift.
  var names: Set<String> { Set(drivers.map(\.name)) }
}

extension DescriptionReader {
  /// Reads a description in YAML, of up to 64 KiB. Errors name the file `file`. The protocol can't have the name of one of the drivers in
  /// Swift of `drivers`. Throws up to 20 errors at once.
  public static func read(
    _ bytes: [UInt8], file: String, drivers: DriverLibrary
  ) throws(ProfileProblems) -> DescribedProtocol {
    try read(bytes, file: file, takenNames: drivers.names)
  }

  /// Reads the description in a file that the user names. Doesn't check who else could have written the file. Throws
  /// what the other `read` throws, and when the file can't be read. Blocks: call it on a `SetupQueue`.
  public static func read(path: String, drivers: DriverLibrary) throws(ProfileProblems) -> DescribedProtocol {
    try read(path: path, takenNames: drivers.names)
  }
}

extension DescriptionLibrary {
  /// Reads the `.yaml` files in these folders, one description each; nil means the usual folders. A file that is invalid, or that an
  /// untrusted user could have written, or whose name one of the drivers in Swift of `drivers` has, is left out and reported in `problems`.
  /// Blocks: call it on a `SetupQueue`.
  public static func load(folders: [String]? = nil, drivers: DriverLibrary) -> DescriptionLibrary {
    load(folders: folders, takenNames: drivers.names)
  }

  /// The profile for devices with this protocol that have no profile of their own: the device's announcement, or the
  /// user, names the protocol as its driver. Nil when there is no such protocol.
  public func profile(_ name: String) -> Profile? {
    described(name)?.profile
  }
}

extension DescribedProtocol {
  /// The profile for devices with this protocol that have no profile of their own.
  public var profile: Profile {
    var profile = Profile(name: name, rules: [DeviceRule(driver: name)], driver: name)
    if !description.summary.isEmpty { profile.description = description.summary }
    if let line { profile.transport.terminal = line }
    profile.described = self
    return profile
  }
}
