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
    // Version 2.0.11 has no words for it.
    if code == MOSQ_ERR_KEEPALIVE.code { return "the broker no longer answers" }
    return mosquitto_strerror(code).map { plain(String(cString: $0)) } ?? "error \(code)"
  }

  /// Some texts of the library end with a full stop.
  private static func plain(_ text: String) -> String { text.hasSuffix(".") ? String(text.dropLast()) : text }

  /// The code of a connection that is over.
  static let connectionLost = MOSQ_ERR_CONN_LOST.code

  /// The error for a subscription that a broker refuses. MQTT 3.1.1 gives no reasons (3.9.3).
  static func refusal(_ action: String) -> AccessoryError {
    AccessoryError(.permissionDenied, "\(action): the broker refuses it")
  }

  /// The error for a broker's refusal of a connection.
  static func refusal(ofConnection code: CInt, _ broker: BrokerAddress) -> AccessoryError {
    // 3.1.1 has codes from 1 to 5 (3.2.2.3). Brokers of other versions may refuse ours with one of theirs.
    let isOfUser = code == 4 || code == 5
    let text = mosquitto_connack_string(code).map { plain(String(cString: $0)) } ?? "code \(code)"
    return AccessoryError(
      isOfUser ? .permissionDenied : .refused,
      "\(broker) refuses the connection: \(text)."
        + (isOfUser
          ? " Check the user in the broker's address and --password-file."
          : " bridge-fleet speaks MQTT 3.1.1, which the broker has to accept."))
  }
}

extension mosq_err_t {
  /// The code as functions of the library return it.
  var code: CInt { CInt(rawValue) }
}
