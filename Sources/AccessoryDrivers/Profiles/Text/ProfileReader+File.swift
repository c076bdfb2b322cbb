// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryDescriptions

extension ProfileReader {
  /// Reads the profile in a file that the user names. Doesn't check who else could have written the file. Throws what
  /// `read` throws, and when the file can't be read. Blocks: call it on a `SetupQueue`.
  public static func read(
    path: String, drivers: DriverLibrary, protocols: DescriptionLibrary = .builtIn
  ) throws(ProfileProblems) -> Profile {
    try check(path: path, drivers: drivers, protocols: protocols).profile
  }

  /// The same, with the rules of alarms that don't fit the profile's protocol.
  package static func check(
    path: String, drivers: DriverLibrary, protocols: DescriptionLibrary = .builtIn
  ) throws(ProfileProblems) -> (profile: Profile, unfitAlarms: [ProfileProblem]) {
    try check(try SettingsFile.contents(of: path), file: path, drivers: drivers, protocols: protocols)
  }
}
