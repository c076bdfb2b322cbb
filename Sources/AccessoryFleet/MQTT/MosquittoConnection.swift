// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLibmosquitto
import Glibc

/// One connection of libmosquitto, from its first step to its end. All calls of the library's are here.
///
/// A connection isn't used again after it was lost: the library would repeat what was queued in it, although newer states wait
/// outside. The library calls back only from inside the calls here; what it says is collected, and the caller takes it
/// with `takeEvents` after each call.
final class MosquittoConnection {
  /// What the library has reported.
  enum Event {
    /// The broker has answered CONNECT, with this code; 0 accepts.
    case connected(code: CInt)
    /// The connection is over, with this code.
    case disconnected(code: CInt)
    /// A message was sent, or with QoS 1 acknowledged.
    case published(number: CInt)
    /// A subscription was answered: with a QoS, or with 128 refused.
    case subscribed(number: CInt, answer: CInt)
    /// A message has arrived.
    case received(MQTTMessage)
    /// A message has arrived that is too long, or whose topic isn't one.
    case droppedMessage
    /// The broker has sent a message with QoS 2, which nobody has asked for.
    case unwantedMessage
    /// The library asks the broker whether it is still there.
    case sentPing
  }

  /// What callbacks write to: an object of its own, which the library holds a pointer to.
  fileprivate final class Inbox {
    var events: [Event] = []
    /// The library's last message of an error, which says more than its codes do for TLS.
    var complaint = ""
  }

  private let mosquitto: OpaquePointer
  private let inbox = Inbox()

  /// Makes a connection and takes its first step, which may block: it looks the host's name up and reads certificates. Throws
  /// `misconfigured` for files that are wrong, `notFound` for a host that isn't known, and otherwise `disconnected`.
  init(_ settings: MQTTSettings) throws(AccessoryError) {
    try MQTTLibrary.start()
    let context = Unmanaged.passUnretained(inbox).toOpaque()
    guard let new = settings.clientID.withCString({ mosquitto_new($0, true, context) }) else {
      throw AccessoryError(.ioFailure, "libmosquitto can't make a client: \(String(cString: strerror(errno)))")
    }
    mosquitto = new
    setCallbacks()
    // When these throw, deinit destroys it.
    try configure(settings)
    try connect(settings.broker, keepalive: settings.keepalive)
  }

  private var isDestroyed = false

  /// Ends the connection at once, without a word to the broker. The object isn't used afterwards.
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
        // There are no callbacks for these.
        if isPing(text) { inbox.events.append(.sentPing) }
        if isOfQoS2(text) { inbox.events.append(.unwantedMessage) }
      }
    }
  }

  private func configure(_ settings: MQTTSettings) throws(AccessoryError) {
    // Never MQTT 5: every version of the library so far calls abort() when a packet of the broker has a property that the
    // library doesn't know.
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
    // Without a function that answers, OpenSSL asks at the terminal for the key's password.
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

  /// Where OpenSSL looks for certificates (Debian's and most other systems').
  private static let systemCAFolder = "/etc/ssl/certs"

  /// `read` and `write` finish the TCP connection and the handshake.
  private func connect(_ broker: BrokerAddress, keepalive: Int) throws(AccessoryError) {
    errno = 0
    let result = mosquitto_connect_async(mosquitto, broker.host, CInt(broker.port), CInt(keepalive))
    guard result != MOSQ_ERR_SUCCESS.code else { return }
    throw failure(result, errno: errno, "connecting to \(broker)")
  }

  // MARK: - The loop

  /// The most messages with QoS 1 that wait for the broker's acknowledgement.
  static let inFlightLimit: CInt = 20
  /// The socket; nil after the library has closed it.
  var socket: CInt? {
    let descriptor = mosquitto_socket(mosquitto)
    return descriptor < 0 ? nil : descriptor
  }

  /// Whether the library has something to send, for which the socket had no room.
  var wantsToWrite: Bool { mosquitto_want_write(mosquitto) }

  /// What the library has reported since the last call.
  func takeEvents() -> [Event] {
    guard !inbox.events.isEmpty else { return [] }
    defer { inbox.events = [] }
    return inbox.events
  }

  /// Reads and handles packets. Returns the library's code, whether a packet was complete, and whether there may be more.
  func read() -> (result: CInt, hadPacket: Bool, mayHaveMore: Bool) {
    errno = 0
    let result = mosquitto_loop_read(mosquitto, 1)
    // The library stops at EAGAIN. That of an acknowledgement, which it writes meanwhile, hides what TLS has decrypted
    // already, so the caller reads again while something waits to be written.
    let isAtEnd = errno == EAGAIN
    return (result, !isAtEnd, !isAtEnd || wantsToWrite)
  }

  /// Writes what waits.
  func write() -> CInt { mosquitto_loop_write(mosquitto, 1) }

  /// Sends a PINGREQ when it is time, and closes the connection when the last one wasn't answered.
  func checkKeepalive() -> CInt { mosquitto_loop_misc(mosquitto) }

  /// Sends a message, or keeps it in memory while the socket is full. Returns its number.
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

  /// Subscribes to a filter. Returns the call's number.
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

  /// Sends the broker a DISCONNECT, so that it drops the will.
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

/// Whether a text of the library's log says that it asks for an answer: "Client ID sending PINGREQ". In others, whose ends are different,
/// there are topics of whoever publishes.
private func isPing(_ text: UnsafePointer<CChar>) -> Bool {
  strstr(text, " sending PINGREQ").map { strlen($0) == 16 } ?? false
}

/// Whether a text of the library's log says that a message with QoS 2 was received: "Client ID received PUBLISH (d0, q2, …". The
/// library keeps those in memory, without a limit, until the broker releases them, and has no callback before.
private func isOfQoS2(_ text: UnsafePointer<CChar>) -> Bool {
  guard let found = strstr(text, " received PUBLISH (d") else { return false }
  return strncmp(found + 21, ", q2,", 5) == 0
}

extension MosquittoConnection.Inbox {
  /// The object that a callback's context points to. Its connection is alive, since it is in a call of the library.
  fileprivate static func of(_ context: UnsafeMutableRawPointer?) -> MosquittoConnection.Inbox {
    Unmanaged<MosquittoConnection.Inbox>.fromOpaque(context!).takeUnretainedValue()
  }
}

extension MQTTMessage {
  /// A message of the library; nil for one that is beyond the limits or whose topic isn't UTF-8. Its bytes are copied.
  fileprivate init?(_ message: mosquitto_message) {
    guard let bytes = message.topic, strnlen(bytes, Self.longestTopic + 1) <= Self.longestTopic,
      let topic = String(validatingCString: bytes), !topic.isEmpty,
      (0...Int(Self.longestPayload)).contains(Int(message.payloadlen))
    else { return nil }
    let payload = UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen))
    self.init(topic, Array(payload), qos: message.qos == 0 ? .atMostOnce : .atLeastOnce, isRetained: message.retain)
  }
}
