// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLibmosquitto
import Glibc

/// libmosquitto as a whole: its start, its version, and its error codes in words.
package enum MQTTLibrary {
  /// The version of the library that this process uses, like "2.0.11".
  package static var version: String {
    var (major, minor, revision): (CInt, CInt, CInt) = (0, 0, 0)
    mosquitto_lib_version(&major, &minor, &revision)
    return "\(major).\(minor).\(revision)"
  }

  /// mosquitto_lib_init isn't safe on several threads; Swift runs the initializer of a static property once.
  private static let startResult: CInt = mosquitto_lib_init()

  /// Starts the library; later calls do nothing. Throws `ioFailure` when it can't start.
  static func start() throws(AccessoryError) {
    guard startResult == MOSQ_ERR_SUCCESS.code else {
      throw AccessoryError(.ioFailure, "libmosquitto can't start: \(text(of: startResult))")
    }
  }

  /// A code of the library in words. `number` is the errno of the failed call, for codes that refer to it.
  static func text(of code: CInt, errno number: CInt = 0) -> String {
    if code == MOSQ_ERR_ERRNO.code, number != 0 { return String(cString: strerror(number)) }
    return mosquitto_strerror(code).map { String(cString: $0) } ?? "error \(code)"
  }
}

extension mosq_err_t {
  /// The code as functions of the library return it.
  var code: CInt { CInt(rawValue) }
}
