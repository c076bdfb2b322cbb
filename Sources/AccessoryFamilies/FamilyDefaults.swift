// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDescriptions
import AccessoryDiscovery

// What AccessoryDrivers does with any drivers, done with those that come with this package.

extension ProfileReader {
  /// Reads a profile in YAML, of up to 64 KiB, whose driver is one of `DriverLibrary.builtIn` or the name of one of the described
  /// `protocols`. Errors name the file `file`. Throws up to 20 errors at once.
  public static func read(
    _ bytes: [UInt8], file: String, protocols: DescriptionLibrary = .builtIn
  ) throws(ProfileProblems) -> Profile {
    try read(bytes, file: file, drivers: .builtIn, protocols: protocols)
  }

  /// Reads the profile in a file that the user names. Doesn't check who else could have written the file. Throws what
  /// the other `read` throws, and when the file can't be read. Blocks: call it on a `SetupQueue`.
  public static func read(
    path: String, protocols: DescriptionLibrary = .builtIn
  ) throws(ProfileProblems) -> Profile {
    try read(path: path, drivers: .builtIn, protocols: protocols)
  }

  /// The same, with the rules of alarms that don't fit the profile's protocol.
  package static func check(
    path: String, protocols: DescriptionLibrary = .builtIn
  ) throws(ProfileProblems) -> (profile: Profile, unfitAlarms: [ProfileProblem]) {
    try check(path: path, drivers: .builtIn, protocols: protocols)
  }

  /// The same for a text.
  package static func check(
    _ bytes: [UInt8], file: String, protocols: DescriptionLibrary = .builtIn
  ) throws(ProfileProblems) -> (profile: Profile, unfitAlarms: [ProfileProblem]) {
    try check(bytes, file: file, drivers: .builtIn, protocols: protocols)
  }
}

extension DescriptionReader {
  /// Reads a description in YAML, of up to 64 KiB, whose name is none of `DriverLibrary.builtIn`. Errors name the file `file`. Throws up
  /// to 20 errors at once.
  public static func read(_ bytes: [UInt8], file: String) throws(ProfileProblems) -> DescribedProtocol {
    try read(bytes, file: file, drivers: .builtIn)
  }

  /// Reads the description in a file that the user names. Doesn't check who else could have written the file. Throws what the other
  /// `read` throws, and when the file can't be read. Blocks: call it on a `SetupQueue`.
  public static func read(path: String) throws(ProfileProblems) -> DescribedProtocol {
    try read(path: path, drivers: .builtIn)
  }
}

extension DescriptionLibrary {
  /// Reads the `.yaml` files in these folders, one description each; nil means the usual folders. None may have a name of
  /// `DriverLibrary.builtIn`. Blocks: call it on a `SetupQueue`.
  public static func load(folders: [String]? = nil) -> DescriptionLibrary {
    load(folders: folders, drivers: .builtIn)
  }
}

extension ProfileLibrary {
  /// Reads the `.yaml` files in these folders, one profile each; nil means the usual folders. Profiles can refer to
  /// `DriverLibrary.builtIn` and to described `protocols`; nil means those in the usual folders. Blocks: call it on a `SetupQueue`.
  public static func load(folders: [String]? = nil, protocols: DescriptionLibrary? = nil) -> ProfileLibrary {
    load(folders: folders, drivers: .builtIn, protocols: protocols)
  }
}

extension DeviceOpener {
  /// Opens `device` with one of the drivers of `DriverLibrary.builtIn`, with the transport that `profile` prefers, or else at the
  /// device's address. `isChosen` says that the user, or the program that holds the device, has chosen the address; then the profile's
  /// preference doesn't count.
  public init(_ device: Device, profile: Profile? = nil, isChosen: Bool = false) {
    self.init(device, profile: profile, isChosen: isChosen, drivers: .builtIn)
  }
}
