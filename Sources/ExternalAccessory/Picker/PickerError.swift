// SPDX-License-Identifier: Apache-2.0

import Foundation

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The domain of the picker's errors.
public let EABluetoothAccessoryPickerErrorDomain = "EABluetoothAccessoryPickerErrorDomain"

/// Called when the picker has finished: with nil, or with an `EABluetoothAccessoryPickerError`.
public typealias EABluetoothAccessoryPickerCompletion = ((any Error)?) -> Void

/// An error of the picker.
public struct EABluetoothAccessoryPickerError: CustomNSError, LocalizedError, Hashable, Sendable {
  /// Why the picker has found no accessory.
  public enum Code: Int, Hashable, Sendable {
    /// A matching accessory is connected already.
    case alreadyConnected = 0
    /// No matching accessory was connected in time.
    case resultNotFound = 1
    /// The waiting task was cancelled, or the program's chooser has chosen no device.
    case resultCancelled = 2
    /// Several Bluetooth devices match and there is no chooser, or the chosen one can't be connected.
    case resultFailed = 3

    /// Allows `catch EABluetoothAccessoryPickerError.resultNotFound`.
    public static func ~= (code: Code, error: any Error) -> Bool {
      (error as? EABluetoothAccessoryPickerError)?.code == code
    }
  }

  /// The reason.
  public let code: Code

  /// An error with this reason.
  public init(_ code: Code) { self.code = code }

  /// The domain of these errors.
  public static var errorDomain: String { EABluetoothAccessoryPickerErrorDomain }
  /// The code's number.
  public var errorCode: Int { code.rawValue }
  /// The message for people.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: text] }
  /// The message for people.
  public var errorDescription: String? { text }

  private var text: String {
    switch code {
    case .alreadyConnected: "An accessory that fits is connected already."
    case .resultNotFound: "No accessory that fits was connected in time."
    case .resultCancelled: "The wait for an accessory was cancelled."
    case .resultFailed: "Several devices fit, or the chosen one couldn't be connected."
    }
  }

  /// A matching accessory is connected already.
  public static var alreadyConnected: Code { .alreadyConnected }
  /// No matching accessory was connected in time.
  public static var resultNotFound: Code { .resultNotFound }
  /// The waiting task was cancelled, or the program's chooser has chosen no device.
  public static var resultCancelled: Code { .resultCancelled }
  /// Several Bluetooth devices match and there is no chooser, or the chosen one can't be connected.
  public static var resultFailed: Code { .resultFailed }
}
