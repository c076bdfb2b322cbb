// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The folder of this package, for tests that read its pages, examples and scripts.
public enum ProjectFolder {
  /// Its path: the nearest folder above this file that has a Package.swift.
  public static let path: String = {
    var parts = #filePath.split(separator: "/")
    while !parts.isEmpty, access("/\(parts.joined(separator: "/"))/Package.swift", R_OK) != 0 { parts.removeLast() }
    return "/" + parts.joined(separator: "/")
  }()
}
