// SPDX-License-Identifier: Apache-2.0

import Foundation

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The domain of the picker's errors.
public let EABluetoothAccessoryPickerErrorDomain = "EABluetoothAccessoryPickerErrorDomain"

/// What the picker's completion is called with: nil, or an `EABluetoothAccessoryPickerError`.
public typealias EABluetoothAccessoryPickerCompletion = ((any Error)?) -> Void

/// Why the picker came to nothing.
public struct EABluetoothAccessoryPickerError: CustomNSError, LocalizedError, Hashable, Sendable {
  /// Why the picker came to nothing.
  public enum Code: Int, Hashable, Sendable {
    /// An accessory that fits is connected already.
    case alreadyConnected = 0
    /// No accessory that fits came in time.
    case resultNotFound = 1
    /// The task that waited was cancelled.
    case resultCancelled = 2
    /// Not used here.
    case resultFailed = 3

    /// For `catch EABluetoothAccessoryPickerError.resultNotFound`.
    public static func ~= (code: Code, error: any Error) -> Bool {
      (error as? EABluetoothAccessoryPickerError)?.code == code
    }
  }

  /// Why.
  public let code: Code

  /// An error with this reason.
  public init(_ code: Code) { self.code = code }

  /// The domain of these errors.
  public static var errorDomain: String { EABluetoothAccessoryPickerErrorDomain }
  /// The code's number.
  public var errorCode: Int { code.rawValue }
  /// The sentence for people.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: text] }
  /// The sentence for people.
  public var errorDescription: String? { text }

  private var text: String {
    switch code {
    case .alreadyConnected: "An accessory that fits is connected already."
    case .resultNotFound: "No accessory that fits was connected in time."
    case .resultCancelled: "The wait for an accessory was cancelled."
    case .resultFailed: "The wait for an accessory failed."
    }
  }

  /// An accessory that fits is connected already.
  public static var alreadyConnected: Code { .alreadyConnected }
  /// No accessory that fits came in time.
  public static var resultNotFound: Code { .resultNotFound }
  /// The task that waited was cancelled.
  public static var resultCancelled: Code { .resultCancelled }
  /// Not used here.
  public static var resultFailed: Code { .resultFailed }
}
