// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import CLibmosquitto
import Glibc

/// One connection of libmosquitto, from connecting to its end. All calls of the library are in this file.
///
/// A connection isn't reused after it is lost: the library would resend its own queue although newer states are waiting outside. The
/// library runs callbacks only during the calls in this file. The callbacks collect events, and the caller takes them with
/// `takeEvents` after each call.
final class MosquittoConnection {
  /// What the library has reported.
  enum Event {
    /// The broker has answered CONNECT with this code; 0 means accepted.
    case connected(code: CInt)
    /// The connection has ended with this code.
    case disconnected(code: CInt)
    /// A message was sent (QoS 0) or acknowledged (QoS 1).
    case published(number: CInt)
    /// A subscription was answered with a QoS, or with 128 for "refused".
    case subscribed(number: CInt, answer: CInt)
    /// A message has arrived.
    case received(MQTTMessage)
    /// A message was dropped because it is too long or its topic is invalid.
    case droppedMessage
    /// The broker has sent a message with QoS 2, which this client never requests.
    case unwantedMessage
    /// The library has sent a PINGREQ.
    case sentPing
  }

  /// Where callbacks store events. It is a separate object because the library holds a pointer to it.
  fileprivate final class Inbox {
    var events: [Event] = []
    /// The library's last error message. For TLS it says more than the code does.
    var complaint = ""
  }

  private let mosquitto: OpaquePointer
  private let inbox = Inbox()

  /// Creates a connection and starts connecting. This may block: it resolves the host name and reads certificates. Throws
  /// `misconfigured` for wrong files, `notFound` for an unknown host, `unsupported` without the library, and otherwise `disconnected`.
  init(_ settings: MQTTSettings) throws(AccessoryError) {
    try MQTTLibrary.start()
    let context = Unmanaged.passUnretained(inbox).toOpaque()
    guard let new = settings.clientID.withCString({ mosquitto_new($0, true, context) }) else {
      throw AccessoryError(.ioFailure, "libmosquitto can't make a client: \(String(cString: strerror(errno)))")
    }
    mosquitto = new
    setCallbacks()
    // If one of these throws, deinit destroys the library's object.
    try configure(settings)
    try connect(settings.broker, keepalive: settings.keepalive)
  }

  private var isDestroyed = false

  /// Ends the connection at once without sending DISCONNECT. Don't use the object afterwards.
  func destroy() {
    guard !isDestroyed else { return }
    isDestroyed = true
    mosquitto_destroy(mosquitto)
  }

  deinit { if !isDestroyed { mosquitto_destroy(mosquitto) } }

  // MARK: - Before the connection

  private func setCallbacks() {
    mosquitto_connect_callback_set(mosquitto) { _, context, code in
      Inbox.of(context).events.append(.connected(code: code))
    }
    mosquitto_disconnect_callback_set(mosquitto) { _, context, code in
      Inbox.of(context).events.append(.disconnected(code: code))
    }
    mosquitto_publish_callback_set(mosquitto) { _, context, number in
      Inbox.of(context).events.append(.published(number: number))
    }
    mosquitto_subscribe_callback_set(mosquitto) { _, context, number, count, answers in
      let answer = count > 0 ? answers?.pointee ?? 128 : 128
      Inbox.of(context).events.append(.subscribed(number: number, answer: answer))
    }
    mosquitto_message_callback_set(mosquitto) { _, context, message in
      let inbox = Inbox.of(context)
      guard let message = message.flatMap({ MQTTMessage($0.pointee) }) else {
        return inbox.events.append(.droppedMessage)
      }
      inbox.events.append(.received(message))
    }
    mosquitto_log_callback_set(mosquitto) { _, context, level, text in
      guard let text else { return }
      let inbox = Inbox.of(context)
      if level == MOSQ_LOG_ERR {
        inbox.complaint = SafeText.escape(String(cString: text), limit: 300)
      } else if level == MOSQ_LOG_DEBUG {
        // The library has no callbacks for these, so read its log.
        if isPing(text) { inbox.events.append(.sentPing) }
        if isOfQoS2(text) { inbox.events.append(.unwantedMessage) }
      }
    }
  }

  private func configure(_ settings: MQTTSettings) throws(AccessoryError) {
    // Never use MQTT 5: every version of the library so far calls abort() on a packet with a property that it doesn't know.
    try check(
      mosquitto_int_option(mosquitto, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V311), "choosing the version")
    try check(mosquitto_int_option(mosquitto, MOSQ_OPT_SEND_MAXIMUM, Self.inFlightLimit), "limiting messages")
    try check(mosquitto_int_option(mosquitto, MOSQ_OPT_TCP_NODELAY, 1), "setting an option")
    if let user = settings.broker.user {
      let password = try settings.passwordFile.map { path throws(AccessoryError) in try SecretFile.password(path) }
      try check(mosquitto_username_pw_set(mosquitto, user, password), "setting the user")
    }
    if settings.broker.usesTLS { try configureTLS(settings) }
    if let will = settings.will {
      let result = will.payload.withUnsafeBytes { payload in
        mosquitto_will_set(
          mosquitto, will.topic, CInt(payload.count), payload.baseAddress, will.qos.rawValue, will.isRetained)
      }
      try check(result, "setting the will")
    }
  }

  private func configureTLS(_ settings: MQTTSettings) throws(AccessoryError) {
    if let keyFile = settings.keyFile { try SecretFile.check(keyFile, "key") }
    for (file, what) in [(settings.caFile, "CA"), (settings.certificateFile, "certificate")] {
      guard let file, access(file, R_OK) != 0 else { continue }
      throw AccessoryError(
        .misconfigured, code: .errno(errno),
        "the \(what) file \(file) can't be read: \(String(cString: strerror(errno)))")
    }
    // Without this function OpenSSL would ask for the key's password on the terminal.
    let noPassword: @convention(c) (UnsafeMutablePointer<CChar>?, CInt, CInt, UnsafeMutableRawPointer?) -> CInt = {
      _, _, _, _ in 0
    }
    if settings.caFile != nil || settings.certificateFile != nil {
      let folder = settings.caFile == nil ? Self.systemCAFolder : nil
      try check(
        mosquitto_tls_set(
          mosquitto, settings.caFile, folder, settings.certificateFile, settings.keyFile, noPassword),
        "reading the certificates")
    } else {
      try check(mosquitto_int_option(mosquitto, MOSQ_OPT_TLS_USE_OS_CERTS, 1), "using the system's certificates")
    }
  }

  /// Where OpenSSL looks for certificates on Debian and most other systems.
  private static let systemCAFolder = "/etc/ssl/certs"

  /// Starts the TCP connection. `read` and `write` complete it, including the TLS handshake.
  private func connect(_ broker: BrokerAddress, keepalive: Int) throws(AccessoryError) {
    errno = 0
    let result = mosquitto_connect_async(mosquitto, broker.host, CInt(broker.port), CInt(keepalive))
    guard result != MOSQ_ERR_SUCCESS.code else { return }
    throw failure(result, errno: errno, "connecting to \(broker)")
  }

  // MARK: - The loop

  /// The most unacknowledged QoS 1 messages at one time.
  static let inFlightLimit: CInt = 20
  /// The socket; nil after the library has closed it.
  var socket: CInt? {
    let descriptor = mosquitto_socket(mosquitto)
    return descriptor < 0 ? nil : descriptor
  }

  /// Whether the library has data left to send because the socket was full.
  var wantsToWrite: Bool { mosquitto_want_write(mosquitto) }

  /// Returns and clears the reported events.
  func takeEvents() -> [Event] {
    guard !inbox.events.isEmpty else { return [] }
    defer { inbox.events = [] }
    return inbox.events
  }

  /// Reads and handles packets. Returns the library's code, whether a packet was complete, and whether there may be more.
  func read() -> (result: CInt, hadPacket: Bool, mayHaveMore: Bool) {
    errno = 0
    let result = mosquitto_loop_read(mosquitto, 1)
    // The library stops at EAGAIN. While it reads, it may also write an acknowledgement. An EAGAIN from that write hides data that
    // TLS has already decrypted, so the caller reads again while something waits to be written.
    let isAtEnd = errno == EAGAIN
    return (result, !isAtEnd, !isAtEnd || wantsToWrite)
  }

  /// Writes waiting data.
  func write() -> CInt { mosquitto_loop_write(mosquitto, 1) }

  /// Sends a PINGREQ when it is due, and closes the connection if the last one wasn't answered.
  func checkKeepalive() -> CInt { mosquitto_loop_misc(mosquitto) }

  /// Sends a message. The library keeps it in memory while the socket is full. Returns the message's number.
  func publish(_ message: MQTTMessage) -> Result<CInt, AccessoryError> {
    var number: CInt = 0
    let result = message.payload.withUnsafeBytes { payload in
      mosquitto_publish(
        mosquitto, &number, message.topic, CInt(payload.count), payload.isEmpty ? nil : payload.baseAddress,
        message.qos.rawValue, message.isRetained)
    }
    guard result == MOSQ_ERR_SUCCESS.code else {
      return .failure(failure(result, errno: errno, "publishing on \(message.topic)"))
    }
    return .success(number)
  }

  /// Subscribes to a filter. Returns the number of the request.
  func subscribe(_ filter: String, qos: MQTTMessage.QoS) -> Result<CInt, AccessoryError> {
    var number: CInt = 0
    let result = mosquitto_subscribe(mosquitto, &number, filter, qos.rawValue)
    guard result == MOSQ_ERR_SUCCESS.code else {
      return .failure(failure(result, errno: errno, "subscribing to \(filter)"))
    }
    return .success(number)
  }

  /// Ends a subscription.
  func unsubscribe(_ filter: String) { mosquitto_unsubscribe(mosquitto, nil, filter) }

  /// Sends DISCONNECT, so that the broker discards the will.
  func disconnect() { mosquitto_disconnect(mosquitto) }

  // MARK: - Errors

  private func check(_ result: CInt, _ action: String) throws(AccessoryError) {
    guard result != MOSQ_ERR_SUCCESS.code else { return }
    let error = failure(result, errno: errno, action)
    throw AccessoryError(.misconfigured, code: error.code, error.message)
  }

  /// The error for a code of the library.
  func failure(_ code: CInt, errno number: CInt = 0, _ action: String) -> AccessoryError {
    var text = MQTTLibrary.text(of: code, errno: number)
    let isTLS = code == MOSQ_ERR_TLS.code || code == MOSQ_ERR_TLS_HANDSHAKE.code
    if isTLS, !inbox.complaint.isEmpty { text = inbox.complaint }
    if text.contains("certificate verify failed") {
      text += ": check --ca, and that the broker's certificate has the host of its address"
    }
    let kind: AccessoryError.Kind =
      switch code {
      case MOSQ_ERR_EAI.code, MOSQ_ERR_LOOKUP.code: .notFound
      case MOSQ_ERR_INVAL.code, MOSQ_ERR_NOT_SUPPORTED.code, MOSQ_ERR_TLS.code: .misconfigured
      case MOSQ_ERR_AUTH.code, MOSQ_ERR_ACL_DENIED.code: .permissionDenied
      case MOSQ_ERR_OVERSIZE_PACKET.code, MOSQ_ERR_PAYLOAD_SIZE.code, MOSQ_ERR_QOS_NOT_SUPPORTED.code,
        MOSQ_ERR_RETAIN_NOT_SUPPORTED.code:
        .unsupported
      default: .disconnected
      }
    let isErrno = code == MOSQ_ERR_ERRNO.code && number != 0
    return AccessoryError(kind, code: isErrno ? .errno(number) : nil, "\(action): \(text)")
  }
}

/// Whether a log line of the library reports a ping: "Client ID sending PINGREQ". The end of the line is compared, because other
/// lines end differently or contain topics that anybody may choose.
private func isPing(_ text: UnsafePointer<CChar>) -> Bool {
  strstr(text, " sending PINGREQ").map { strlen($0) == 16 } ?? false
}

/// Whether a log line of the library reports a received message with QoS 2: "Client ID received PUBLISH (d0, q2, …". The library
/// stores such messages without a limit until the broker releases them, and calls back only then.
private func isOfQoS2(_ text: UnsafePointer<CChar>) -> Bool {
  guard let found = strstr(text, " received PUBLISH (d") else { return false }
  return strncmp(found + 21, ", q2,", 5) == 0
}

extension MosquittoConnection.Inbox {
  /// The object that a callback's context points to. Its connection is alive, because callbacks run only during a call of the
  /// library.
  fileprivate static func of(_ context: UnsafeMutableRawPointer?) -> MosquittoConnection.Inbox {
    Unmanaged<MosquittoConnection.Inbox>.fromOpaque(context!).takeUnretainedValue()
  }
}

extension MQTTMessage {
  /// Copies a message of the library. Nil if it exceeds the limits or its topic isn't UTF-8.
  fileprivate init?(_ message: mosquitto_message) {
    guard let bytes = message.topic, strnlen(bytes, Self.longestTopic + 1) <= Self.longestTopic,
      let topic = String(validatingCString: bytes), !topic.isEmpty,
      (0...Int(Self.longestPayload)).contains(Int(message.payloadlen))
    else { return nil }
    let payload = UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen))
    self.init(topic, Array(payload), qos: message.qos == 0 ? .atMostOnce : .atLeastOnce, isRetained: message.retain)
  }
}
