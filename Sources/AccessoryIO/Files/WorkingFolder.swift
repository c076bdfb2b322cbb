// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The folder in which this process works.
package enum WorkingFolder {
  /// Its path; nil when it was removed or can't be read.
  package static var path: String? {
    guard let path = getcwd(nil, 0) else { return nil }
    defer { free(path) }
    return String(cString: path)
  }

  /// The absolute path, without resolving links. A relative one stays as it is where there is no working folder.
  package static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let folder = Self.path else { return path }
    return folder + "/" + (path.hasPrefix("./") ? String(path.dropFirst(2)) : path)
  }
}
