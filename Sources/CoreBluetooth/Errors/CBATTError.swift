// SPDX-License-Identifier: Apache-2.0

import Foundation

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The domain of `CBATTError`.
public let CBATTErrorDomain = "CBATTErrorDomain"

/// An error of the other device, with the numbers of the Attribute Protocol.
public struct CBATTError: CustomNSError, LocalizedError, Hashable, Sendable {
  /// What went wrong.
  public enum Code: Int, Hashable, Sendable {
    /// The operation has succeeded.
    case success = 0
    /// The handle is invalid.
    case invalidHandle = 1
    /// Reading is not permitted.
    case readNotPermitted = 2
    /// Writing is not permitted.
    case writeNotPermitted = 3
    /// The command is invalid.
    case invalidPdu = 4
    /// Authentication is insufficient.
    case insufficientAuthentication = 5
    /// The request is not supported.
    case requestNotSupported = 6
    /// The offset is invalid.
    case invalidOffset = 7
    /// Authorization is insufficient.
    case insufficientAuthorization = 8
    /// The prepare queue is full.
    case prepareQueueFull = 9
    /// The attribute could not be found.
    case attributeNotFound = 10
    /// The attribute is not long.
    case attributeNotLong = 11
    /// The encryption key size is insufficient.
    case insufficientEncryptionKeySize = 12
    /// The value's length is invalid.
    case invalidAttributeValueLength = 13
    /// Unlikely error.
    case unlikelyError = 14
    /// Encryption is insufficient.
    case insufficientEncryption = 15
    /// The group type is not supported.
    case unsupportedGroupType = 16
    /// Resources are insufficient.
    case insufficientResources = 17

    /// Allows `catch CBATTError.invalidHandle`.
    public static func ~= (code: Code, error: any Error) -> Bool {
      (CBATTError(error))?.code == code
    }
  }

  /// What went wrong.
  public let code: Code

  /// An error with this code. `userInfo` is there for sources of Apple's systems.
  public init(_ code: Code, userInfo: [String: Any] = [:]) { self.code = code }

  /// The error that `error` is, also as an `NSError` of the domain; nil for others.
  init?(_ error: any Error) {
    if let error = error as? CBATTError {
      self = error
      return
    }
    let error = error as NSError
    guard error.domain == CBATTErrorDomain, let code = Code(rawValue: error.code) else { return nil }
    self.init(code)
  }

  /// The domain of these errors.
  public static var errorDomain: String { CBATTErrorDomain }
  /// The number of the code.
  public var errorCode: Int { code.rawValue }
  /// The message for people.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: text] }
  /// The message for people.
  public var errorDescription: String? { text }

  private var text: String {
    switch code {
    case .success: "The operation has succeeded."
    case .invalidHandle: "The handle is invalid."
    case .readNotPermitted: "Reading is not permitted."
    case .writeNotPermitted: "Writing is not permitted."
    case .invalidPdu: "The command is invalid."
    case .insufficientAuthentication: "Authentication is insufficient."
    case .requestNotSupported: "The request is not supported."
    case .invalidOffset: "The offset is invalid."
    case .insufficientAuthorization: "Authorization is insufficient."
    case .prepareQueueFull: "The prepare queue is full."
    case .attributeNotFound: "The attribute could not be found."
    case .attributeNotLong: "The attribute is not long."
    case .insufficientEncryptionKeySize: "The encryption key size is insufficient."
    case .invalidAttributeValueLength: "The value's length is invalid."
    case .unlikelyError: "Unlikely error."
    case .insufficientEncryption: "Encryption is insufficient."
    case .unsupportedGroupType: "The group type is not supported."
    case .insufficientResources: "Resources are insufficient."
    }
  }
}

extension CBATTError {
  /// The operation has succeeded.
  public static var success: Code { .success }
  /// The handle is invalid.
  public static var invalidHandle: Code { .invalidHandle }
  /// Reading is not permitted.
  public static var readNotPermitted: Code { .readNotPermitted }
  /// Writing is not permitted.
  public static var writeNotPermitted: Code { .writeNotPermitted }
  /// The command is invalid.
  public static var invalidPdu: Code { .invalidPdu }
  /// Authentication is insufficient.
  public static var insufficientAuthentication: Code { .insufficientAuthentication }
  /// The request is not supported.
  public static var requestNotSupported: Code { .requestNotSupported }
  /// The offset is invalid.
  public static var invalidOffset: Code { .invalidOffset }
  /// Authorization is insufficient.
  public static var insufficientAuthorization: Code { .insufficientAuthorization }
  /// The prepare queue is full.
  public static var prepareQueueFull: Code { .prepareQueueFull }
  /// The attribute could not be found.
  public static var attributeNotFound: Code { .attributeNotFound }
  /// The attribute is not long.
  public static var attributeNotLong: Code { .attributeNotLong }
  /// The encryption key size is insufficient.
  public static var insufficientEncryptionKeySize: Code { .insufficientEncryptionKeySize }
  /// The value's length is invalid.
  public static var invalidAttributeValueLength: Code { .invalidAttributeValueLength }
  /// Unlikely error.
  public static var unlikelyError: Code { .unlikelyError }
  /// Encryption is insufficient.
  public static var insufficientEncryption: Code { .insufficientEncryption }
  /// The group type is not supported.
  public static var unsupportedGroupType: Code { .unsupportedGroupType }
  /// Resources are insufficient.
  public static var insufficientResources: Code { .insufficientResources }
}
