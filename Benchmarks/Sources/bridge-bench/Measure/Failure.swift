// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Why a benchmark could not be run.
struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// Throws when a C function returned a negative number.
  @discardableResult
  static func check<Value: SignedInteger>(_ result: Value, _ action: String) throws(Failure) -> Value {
    if result < 0 { throw Failure("\(action): \(String(cString: strerror(errno)))") }
    return result
  }
}
