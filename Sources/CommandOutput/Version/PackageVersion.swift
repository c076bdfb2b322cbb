// SPDX-License-Identifier: Apache-2.0

/// The version of this package: the output of `--version`, and the version of the Debian packages.
package enum PackageVersion {
  /// A release by Semantic Versioning; the changelog has an entry for it. `packaging/version` reads it from this line.
  package static let current = "0.2.0"
}
