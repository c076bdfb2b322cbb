// SPDX-License-Identifier: Apache-2.0

import Foundation

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The domain of `CBError`.
public let CBErrorDomain = "CBErrorDomain"

/// An error of a connection, or of a manager.
public struct CBError: CustomNSError, LocalizedError, Hashable, Sendable {
  /// What went wrong.
  public enum Code: Int, Hashable, Sendable {
    /// An unknown error occurred.
    case unknown = 0
    /// The parameters are invalid.
    case invalidParameters = 1
    /// The attribute is not one of this connection.
    case invalidHandle = 2
    /// The device is not connected.
    case notConnected = 3
    /// There is no space left.
    case outOfSpace = 4
    /// The operation was cancelled.
    case operationCancelled = 5
    /// The connection has timed out unexpectedly.
    case connectionTimeout = 6
    /// The device has disconnected from us.
    case peripheralDisconnected = 7
    /// The UUID is not allowed for this operation.
    case uuidNotAllowed = 8
    /// Advertising has already started.
    case alreadyAdvertising = 9
    /// The connection has failed unexpectedly.
    case connectionFailed = 10
    /// The most connections are open already.
    case connectionLimitReached = 11
    /// The device is unknown. Spelled as Apple's case; `unknownDevice` is the same.
    case unkownDevice = 12
    /// The operation is not supported.
    case operationNotSupported = 13
    /// The device has removed its pairing information.
    case peerRemovedPairingInformation = 14
    /// The encryption has timed out unexpectedly.
    case encryptionTimedOut = 15
    /// The most devices are paired already.
    case tooManyLEPairedDevices = 16
    /// More notifications came in the background than iOS allows. Never on Linux.
    case leGattExceededBackgroundNotificationLimit = 17
    /// Nearly as many notifications came in the background as iOS allows. Never on Linux.
    case leGattNearBackgroundNotificationLimit = 18

    /// The device is unknown.
    public static var unknownDevice: Code { .unkownDevice }

    /// Allows `catch CBError.invalidParameters`.
    public static func ~= (code: Code, error: any Error) -> Bool {
      (CBError(error))?.code == code
    }
  }

  /// What went wrong.
  public let code: Code

  /// An error with this code. `userInfo` is there for sources of Apple's systems.
  public init(_ code: Code, userInfo: [String: Any] = [:]) { self.code = code }

  /// The error that `error` is, also as an `NSError` of the domain; nil for others.
  init?(_ error: any Error) {
    if let error = error as? CBError {
      self = error
      return
    }
    let error = error as NSError
    guard error.domain == CBErrorDomain, let code = Code(rawValue: error.code) else { return nil }
    self.init(code)
  }

  /// The domain of these errors.
  public static var errorDomain: String { CBErrorDomain }
  /// The number of the code.
  public var errorCode: Int { code.rawValue }
  /// The message for people.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: text] }
  /// The message for people.
  public var errorDescription: String? { text }

  private var text: String {
    switch code {
    case .unknown: "An unknown error occurred."
    case .invalidParameters: "The parameters are invalid."
    case .invalidHandle: "The attribute is not one of this connection."
    case .notConnected: "The device is not connected."
    case .outOfSpace: "There is no space left."
    case .operationCancelled: "The operation was cancelled."
    case .connectionTimeout: "The connection has timed out unexpectedly."
    case .peripheralDisconnected: "The device has disconnected from us."
    case .uuidNotAllowed: "The UUID is not allowed for this operation."
    case .alreadyAdvertising: "Advertising has already started."
    case .connectionFailed: "The connection has failed unexpectedly."
    case .connectionLimitReached: "The most connections are open already."
    case .unkownDevice: "The device is unknown."
    case .operationNotSupported: "The operation is not supported."
    case .peerRemovedPairingInformation: "The device has removed its pairing information."
    case .encryptionTimedOut: "The encryption has timed out unexpectedly."
    case .tooManyLEPairedDevices: "The most devices are paired already."
    case .leGattExceededBackgroundNotificationLimit: "Too many notifications came in the background."
    case .leGattNearBackgroundNotificationLimit: "Nearly too many notifications came in the background."
    }
  }
}

extension CBError {
  /// An unknown error occurred.
  public static var unknown: Code { .unknown }
  /// The parameters are invalid.
  public static var invalidParameters: Code { .invalidParameters }
  /// The attribute is not one of this connection.
  public static var invalidHandle: Code { .invalidHandle }
  /// The device is not connected.
  public static var notConnected: Code { .notConnected }
  /// There is no space left.
  public static var outOfSpace: Code { .outOfSpace }
  /// The operation was cancelled.
  public static var operationCancelled: Code { .operationCancelled }
  /// The connection has timed out unexpectedly.
  public static var connectionTimeout: Code { .connectionTimeout }
  /// The device has disconnected from us.
  public static var peripheralDisconnected: Code { .peripheralDisconnected }
  /// The UUID is not allowed for this operation.
  public static var uuidNotAllowed: Code { .uuidNotAllowed }
  /// Advertising has already started.
  public static var alreadyAdvertising: Code { .alreadyAdvertising }
  /// The connection has failed unexpectedly.
  public static var connectionFailed: Code { .connectionFailed }
  /// The most connections are open already.
  public static var connectionLimitReached: Code { .connectionLimitReached }
  /// The device is unknown.
  public static var unknownDevice: Code { .unkownDevice }
  /// The operation is not supported.
  public static var operationNotSupported: Code { .operationNotSupported }
  /// The device has removed its pairing information.
  public static var peerRemovedPairingInformation: Code { .peerRemovedPairingInformation }
  /// The encryption has timed out unexpectedly.
  public static var encryptionTimedOut: Code { .encryptionTimedOut }
  /// The most devices are paired already.
  public static var tooManyLEPairedDevices: Code { .tooManyLEPairedDevices }
  /// The same, as it was spelled first.
  public static var unkownDevice: Code { .unkownDevice }
  /// More notifications came in the background than iOS allows.
  public static var leGattExceededBackgroundNotificationLimit: Code { .leGattExceededBackgroundNotificationLimit }
  /// Nearly as many notifications came in the background as iOS allows.
  public static var leGattNearBackgroundNotificationLimit: Code { .leGattNearBackgroundNotificationLimit }
}
