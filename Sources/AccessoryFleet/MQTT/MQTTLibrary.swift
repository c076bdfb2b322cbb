// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLibmosquitto
import Glibc

/// libmosquitto: how to start it, and texts for its error codes.
package enum MQTTLibrary {
  /// Loads and starts the library, which isn't thread-safe. Swift runs the initializer of a static property only once.
  private static let failureOfStart: AccessoryError? = {
    if let complaint = shim_load_libmosquitto() {
      return AccessoryError(
        .unsupported,
        "MQTT needs libmosquitto, version 2, which isn't installed: the package libmosquitto1 has it ("
          + String(cString: complaint) + ")")
    }
    let result = mosquitto_lib_init()
    return result == MOSQ_ERR_SUCCESS.code
      ? nil : AccessoryError(.ioFailure, "libmosquitto can't start: \(text(of: result))")
  }()

  /// Loads and starts the library; later calls do nothing. Throws `unsupported` where it isn't installed, otherwise `ioFailure`.
  static func start() throws(AccessoryError) {
    if let failureOfStart { throw failureOfStart }
  }

  /// The text for a code of the library. `number` is the errno of the failed call, for codes that refer to it.
  static func text(of code: CInt, errno number: CInt = 0) -> String {
    if code == MOSQ_ERR_ERRNO.code, number != 0 { return String(cString: strerror(number)) }
    // Version 2.0.11 has no text for this code.
    if code == MOSQ_ERR_KEEPALIVE.code { return "the broker no longer answers" }
    return mosquitto_strerror(code).map { plain(String(cString: $0)) } ?? "error \(code)"
  }

  /// Some texts of the library end with a full stop.
  private static func plain(_ text: String) -> String { text.hasSuffix(".") ? String(text.dropLast()) : text }

  static let connectionLost = MOSQ_ERR_CONN_LOST.code

  /// The error for a refused subscription. MQTT 3.1.1 gives no reason (3.9.3).
  static func refusal(_ action: String) -> AccessoryError {
    AccessoryError(.permissionDenied, "\(action): the broker refuses it")
  }

  /// The error for a refused connection.
  static func refusal(ofConnection code: CInt, _ broker: BrokerAddress) -> AccessoryError {
    // MQTT 3.1.1 defines codes 1 to 5 (3.2.2.3). Brokers of other versions may send other codes.
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
  /// The code in the type that the library's functions return.
  var code: CInt { CInt(rawValue) }
}
