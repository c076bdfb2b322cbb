// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// The limits of the EV3's firmware (c_com.h, lms2012.h).
public enum EV3Limits {
  /// Bytes of a message with its length field (MAX_MSG_SIZE); also the size of a USB report.
  public static let message = 1_024
  /// Bytes of a message behind its length field.
  public static let messageBehindLength = 1_022
  /// Bytes of the results of a direct command (MAX_COMMAND_GLOBALS).
  public static let globals = 1_021
  /// Bytes of the local variables of a direct command: the field has six bits.
  public static let locals = 63
  /// Bytes of a file in one CONTINUE_DOWNLOAD: a message less its number, type, command and handle.
  public static let downloadPiece = messageBehindLength - 5
  /// Bytes of a file in the reply to BEGIN_UPLOAD, BEGIN_GETFILE, CONTINUE_GETFILE or LIST_FILES: a message less its
  /// length field, number, type, command, status, and the file's size and handle.
  public static let uploadPiece = message - 12
  /// Bytes of a file in the reply to CONTINUE_UPLOAD or CONTINUE_LIST_FILES, which don't contain the file's size.
  public static let nextUploadPiece = message - 8
}

extension EV3Limits {
  /// The framing of the EV3's messages: a length of two bytes, little-endian, in front of the message, which has at
  /// least a number and a type.
  ///
  /// A reply with 1021 bytes of results, which the firmware allows, is a little longer than any command may be.
  public static var codec: LengthPrefixedCodec {
    do {
      return try LengthPrefixedCodec(minimumPayload: 3, maximumPayload: 3 + globals)
    } catch {
      preconditionFailure("\(error)")  // the arguments are constants within the codec's bounds
    }
  }
}
