// SPDX-License-Identifier: Apache-2.0

// The instructions of direct commands, as in LEGO's bytecodes.h. Their parameters are those of the firmware's c_ui.c,
// c_output.c, c_input.c, c_sound.c and c_com.c.

extension EV3Operation {
  /// All operations that are known here.
  public static let all: [EV3Operation] =
    machine + uiRead + uiWrite + uiButton + uiDraw + sound + inputDevice + input + output + communication

  static let machine: [EV3Operation] = [
    EV3Operation(0x00, "ERROR"),
    EV3Operation(0x01, "NOP"),
    EV3Operation(0x02, "PROGRAM_STOP", [.int16]),
    EV3Operation(0x03, "PROGRAM_START", [.int16, .int32, .int32, .int8]),
    EV3Operation(0x3A, "MOVE32_32", [.int32, .result(.int32)]),
    EV3Operation(0x7C, 4, "INFO GET_VOLUME", [.result(.int8)]),
    EV3Operation(0x7C, 5, "INFO SET_VOLUME", [.int8]),
    EV3Operation(0x7C, 6, "INFO GET_MINUTES", [.result(.int8)]),
    EV3Operation(0x7C, 7, "INFO SET_MINUTES", [.int8]),
    EV3Operation(0x85, "TIMER_WAIT", [.int32, .result(.int32)]),
    EV3Operation(0x86, "TIMER_READY", [.result(.int32)]),
    EV3Operation(0x90, "KEEP_ALIVE", [.result(.int8)]),
    EV3Operation(0xC5, "MEMORY_USAGE", [.result(.int32), .result(.int32)]),
  ]

  static let uiRead: [EV3Operation] = [
    EV3Operation(0x81, 1, "UI_READ GET_VBATT", [.result(.float)]),
    EV3Operation(0x81, 2, "UI_READ GET_IBATT", [.result(.float)]),
    EV3Operation(0x81, 3, "UI_READ GET_OS_VERS", [.int8, .bytes]),
    EV3Operation(0x81, 4, "UI_READ GET_EVENT", [.result(.int8)]),
    EV3Operation(0x81, 5, "UI_READ GET_TBATT", [.result(.float)]),
    EV3Operation(0x81, 6, "UI_READ GET_IINT", [.result(.float)]),
    EV3Operation(0x81, 7, "UI_READ GET_IMOTOR", [.result(.float)]),
    EV3Operation(0x81, 8, "UI_READ GET_STRING", [.int8, .bytes]),
    EV3Operation(0x81, 9, "UI_READ GET_HW_VERS", [.int8, .bytes]),
    EV3Operation(0x81, 10, "UI_READ GET_FW_VERS", [.int8, .bytes]),
    EV3Operation(0x81, 11, "UI_READ GET_FW_BUILD", [.int8, .bytes]),
    EV3Operation(0x81, 12, "UI_READ GET_OS_BUILD", [.int8, .bytes]),
    EV3Operation(0x81, 16, "UI_READ GET_SHUTDOWN", [.result(.int8)]),
    EV3Operation(0x81, 17, "UI_READ GET_WARNING", [.result(.int8)]),
    EV3Operation(0x81, 18, "UI_READ GET_LBATT", [.result(.int8)]),
    EV3Operation(0x81, 26, "UI_READ GET_VERSION", [.int8, .bytes]),
    EV3Operation(0x81, 27, "UI_READ GET_IP", [.int8, .bytes]),
    EV3Operation(
      0x81, 29, "UI_READ GET_POWER", [.result(.float), .result(.float), .result(.float), .result(.float)]),
    EV3Operation(0x81, 30, "UI_READ GET_SDCARD", [.result(.int8), .result(.int32), .result(.int32)]),
    EV3Operation(0x81, 31, "UI_READ GET_USBSTICK", [.result(.int8), .result(.int32), .result(.int32)]),
  ]

  static let uiWrite: [EV3Operation] = [
    EV3Operation(0x82, 1, "UI_WRITE WRITE_FLUSH"),
    EV3Operation(0x82, 8, "UI_WRITE PUT_STRING", [.text]),
    EV3Operation(0x82, 9, "UI_WRITE VALUE8", [.int8]),
    EV3Operation(0x82, 10, "UI_WRITE VALUE16", [.int16]),
    EV3Operation(0x82, 11, "UI_WRITE VALUE32", [.int32]),
    EV3Operation(0x82, 15, "UI_WRITE DOWNLOAD_END"),
    EV3Operation(0x82, 22, "UI_WRITE SET_BUSY", [.int8]),
    EV3Operation(0x82, 27, "UI_WRITE LED", [.int8]),
    EV3Operation(0x82, 29, "UI_WRITE POWER", [.int8]),
    EV3Operation(0x82, 31, "UI_WRITE TERMINAL", [.int8]),
  ]

  static let uiButton: [EV3Operation] = [
    EV3Operation(0x83, 1, "UI_BUTTON SHORTPRESS", [.int8, .result(.int8)]),
    EV3Operation(0x83, 2, "UI_BUTTON LONGPRESS", [.int8, .result(.int8)]),
    EV3Operation(0x83, 3, "UI_BUTTON WAIT_FOR_PRESS"),
    EV3Operation(0x83, 4, "UI_BUTTON FLUSH"),
    EV3Operation(0x83, 5, "UI_BUTTON PRESS", [.int8]),
    EV3Operation(0x83, 6, "UI_BUTTON RELEASE", [.int8]),
    EV3Operation(0x83, 7, "UI_BUTTON GET_HORZ", [.result(.int16)]),
    EV3Operation(0x83, 8, "UI_BUTTON GET_VERT", [.result(.int16)]),
    EV3Operation(0x83, 9, "UI_BUTTON PRESSED", [.int8, .result(.int8)]),
    EV3Operation(0x83, 10, "UI_BUTTON SET_BACK_BLOCK", [.int8]),
    EV3Operation(0x83, 11, "UI_BUTTON GET_BACK_BLOCK", [.result(.int8)]),
    EV3Operation(0x83, 12, "UI_BUTTON TESTSHORTPRESS", [.int8, .result(.int8)]),
    EV3Operation(0x83, 13, "UI_BUTTON TESTLONGPRESS", [.int8, .result(.int8)]),
    EV3Operation(0x83, 14, "UI_BUTTON GET_BUMBED", [.int8, .result(.int8)]),
    EV3Operation(0x83, 15, "UI_BUTTON GET_CLICK", [.result(.int8)]),
  ]

  static let uiDraw: [EV3Operation] = [
    EV3Operation(0x84, 0, "UI_DRAW UPDATE"),
    EV3Operation(0x84, 1, "UI_DRAW CLEAN"),
    EV3Operation(0x84, 2, "UI_DRAW PIXEL", [.int8, .int16, .int16]),
    EV3Operation(0x84, 3, "UI_DRAW LINE", [.int8, .int16, .int16, .int16, .int16]),
    EV3Operation(0x84, 4, "UI_DRAW CIRCLE", [.int8, .int16, .int16, .int16]),
    EV3Operation(0x84, 5, "UI_DRAW TEXT", [.int8, .int16, .int16, .text]),
    EV3Operation(0x84, 6, "UI_DRAW ICON", [.int8, .int16, .int16, .int8, .int8]),
    EV3Operation(0x84, 9, "UI_DRAW FILLRECT", [.int8, .int16, .int16, .int16, .int16]),
    EV3Operation(0x84, 10, "UI_DRAW RECT", [.int8, .int16, .int16, .int16, .int16]),
    EV3Operation(0x84, 16, "UI_DRAW INVERSERECT", [.int16, .int16, .int16, .int16]),
    EV3Operation(0x84, 17, "UI_DRAW SELECT_FONT", [.int8]),
    EV3Operation(0x84, 18, "UI_DRAW TOPLINE", [.int8]),
    EV3Operation(0x84, 19, "UI_DRAW FILLWINDOW", [.int8, .int16, .int16]),
    EV3Operation(0x84, 21, "UI_DRAW DOTLINE", [.int8, .int16, .int16, .int16, .int16, .int16, .int16]),
    EV3Operation(0x84, 24, "UI_DRAW FILLCIRCLE", [.int8, .int16, .int16, .int16]),
    EV3Operation(0x84, 25, "UI_DRAW STORE", [.int8]),
    EV3Operation(0x84, 26, "UI_DRAW RESTORE", [.int8]),
    EV3Operation(0x84, 28, "UI_DRAW BMPFILE", [.int8, .int16, .int16, .text]),
  ]

  static let sound: [EV3Operation] = [
    EV3Operation(0x94, 0, "SOUND BREAK"),
    EV3Operation(0x94, 1, "SOUND TONE", [.int8, .int16, .int16]),
    EV3Operation(0x94, 2, "SOUND PLAY", [.int8, .text]),
    EV3Operation(0x94, 3, "SOUND REPEAT", [.int8, .text]),
    EV3Operation(0x95, "SOUND_TEST", [.result(.int8)]),
    EV3Operation(0x96, "SOUND_READY"),
  ]

  static let inputDevice: [EV3Operation] = [
    EV3Operation(0x98, "INPUT_DEVICE_LIST", [.int8, .bytes, .result(.int8)]),
    EV3Operation(
      0x99, 2, "INPUT_DEVICE GET_FORMAT",
      [.int8, .int8, .result(.int8), .result(.int8), .result(.int8), .result(.int8)]),
    EV3Operation(0x99, 3, "INPUT_DEVICE CAL_MINMAX", [.int8, .int8, .int32, .int32]),
    EV3Operation(0x99, 4, "INPUT_DEVICE CAL_DEFAULT", [.int8, .int8]),
    EV3Operation(0x99, 5, "INPUT_DEVICE GET_TYPEMODE", [.int8, .int8, .result(.int8), .result(.int8)]),
    EV3Operation(0x99, 6, "INPUT_DEVICE GET_SYMBOL", [.int8, .int8, .int8, .bytes]),
    EV3Operation(0x99, 10, "INPUT_DEVICE CLR_ALL", [.int8]),
    EV3Operation(0x99, 11, "INPUT_DEVICE GET_RAW", [.int8, .int8, .result(.int32)]),
    EV3Operation(0x99, 12, "INPUT_DEVICE GET_CONNECTION", [.int8, .int8, .result(.int8)]),
    EV3Operation(0x99, 13, "INPUT_DEVICE STOP_ALL", [.int8]),
    EV3Operation(0x99, 21, "INPUT_DEVICE GET_NAME", [.int8, .int8, .int8, .bytes]),
    EV3Operation(0x99, 22, "INPUT_DEVICE GET_MODENAME", [.int8, .int8, .int8, .int8, .bytes]),
    EV3Operation(0x99, 24, "INPUT_DEVICE GET_FIGURES", [.int8, .int8, .result(.int8), .result(.int8)]),
    EV3Operation(0x99, 25, "INPUT_DEVICE GET_CHANGES", [.int8, .int8, .result(.float)]),
    EV3Operation(0x99, 26, "INPUT_DEVICE CLR_CHANGES", [.int8, .int8]),
    EV3Operation(
      0x99, 27, "INPUT_DEVICE READY_PCT", [.int8, .int8, .int8, .int8, .int8, .results(.int8)]),
    EV3Operation(
      0x99, 28, "INPUT_DEVICE READY_RAW", [.int8, .int8, .int8, .int8, .int8, .results(.int32)]),
    EV3Operation(
      0x99, 29, "INPUT_DEVICE READY_SI", [.int8, .int8, .int8, .int8, .int8, .results(.float)]),
    EV3Operation(0x99, 30, "INPUT_DEVICE GET_MINMAX", [.int8, .int8, .result(.float), .result(.float)]),
    EV3Operation(0x99, 31, "INPUT_DEVICE GET_BUMPS", [.int8, .int8, .result(.float)]),
  ]

  static let input: [EV3Operation] = [
    EV3Operation(0x9A, "INPUT_READ", [.int8, .int8, .int8, .int8, .result(.int8)]),
    EV3Operation(0x9B, "INPUT_TEST", [.int8, .int8, .result(.int8)]),
    EV3Operation(0x9C, "INPUT_READY", [.int8, .int8]),
    EV3Operation(0x9D, "INPUT_READSI", [.int8, .int8, .int8, .int8, .result(.float)]),
    EV3Operation(0x9E, "INPUT_READEXT", [.int8, .int8, .int8, .int8, .int8, .int8, .results(nil)]),
  ]

  static let output: [EV3Operation] = [
    EV3Operation(0xA0, "OUTPUT_GET_TYPE", [.int8, .int8, .result(.int8)]),
    EV3Operation(0xA1, "OUTPUT_SET_TYPE", [.int8, .int8, .int8]),
    EV3Operation(0xA2, "OUTPUT_RESET", [.int8, .int8]),
    EV3Operation(0xA3, "OUTPUT_STOP", [.int8, .int8, .int8]),
    EV3Operation(0xA4, "OUTPUT_POWER", [.int8, .int8, .int8]),
    EV3Operation(0xA5, "OUTPUT_SPEED", [.int8, .int8, .int8]),
    EV3Operation(0xA6, "OUTPUT_START", [.int8, .int8]),
    EV3Operation(0xA7, "OUTPUT_POLARITY", [.int8, .int8, .int8]),
    EV3Operation(0xA8, "OUTPUT_READ", [.int8, .int8, .result(.int8), .result(.int32)]),
    EV3Operation(0xA9, "OUTPUT_TEST", [.int8, .int8, .result(.int8)]),
    EV3Operation(0xAA, "OUTPUT_READY", [.int8, .int8]),
    EV3Operation(0xAC, "OUTPUT_STEP_POWER", [.int8, .int8, .int8, .int32, .int32, .int32, .int8]),
    EV3Operation(0xAD, "OUTPUT_TIME_POWER", [.int8, .int8, .int8, .int32, .int32, .int32, .int8]),
    EV3Operation(0xAE, "OUTPUT_STEP_SPEED", [.int8, .int8, .int8, .int32, .int32, .int32, .int8]),
    EV3Operation(0xAF, "OUTPUT_TIME_SPEED", [.int8, .int8, .int8, .int32, .int32, .int32, .int8]),
    EV3Operation(0xB0, "OUTPUT_STEP_SYNC", [.int8, .int8, .int8, .int16, .int32, .int8]),
    EV3Operation(0xB1, "OUTPUT_TIME_SYNC", [.int8, .int8, .int8, .int16, .int32, .int8]),
    EV3Operation(0xB2, "OUTPUT_CLR_COUNT", [.int8, .int8]),
    EV3Operation(0xB3, "OUTPUT_GET_COUNT", [.int8, .int8, .result(.int32)]),
    EV3Operation(0xB4, "OUTPUT_PRG_STOP"),
  ]

  static let communication: [EV3Operation] = [
    EV3Operation(0xC0, 8, "FILE LOAD_IMAGE", [.int16, .text, .result(.int32), .result(.int32)]),
    EV3Operation(0xC0, 10, "FILE MAKE_FOLDER", [.text, .result(.int8)]),
    EV3Operation(0xC0, 13, "FILE GET_FOLDERS", [.text, .result(.int8)]),
    EV3Operation(0xC0, 30, "FILE REMOVE", [.text]),
    EV3Operation(0xC0, 31, "FILE MOVE", [.text, .text]),
    EV3Operation(0xD3, 1, "COM_GET GET_ON_OFF", [.int8, .result(.int8)]),
    EV3Operation(0xD3, 2, "COM_GET GET_VISIBLE", [.int8, .result(.int8)]),
    EV3Operation(0xD3, 12, "COM_GET GET_ID", [.int8, .int8, .bytes]),
    EV3Operation(0xD3, 13, "COM_GET GET_BRICKNAME", [.int8, .bytes]),
    EV3Operation(0xD3, 14, "COM_GET GET_NETWORK", [.int8, .int8, .bytes, .bytes, .bytes]),
    EV3Operation(0xD4, 1, "COM_SET SET_ON_OFF", [.int8, .int8]),
    EV3Operation(0xD4, 2, "COM_SET SET_VISIBLE", [.int8, .int8]),
    EV3Operation(0xD4, 8, "COM_SET SET_BRICKNAME", [.text]),
  ]

  private static let byCode = Dictionary(uniqueKeysWithValues: all.map { (code($0.opcode, $0.subcode), $0) })
  private static let divided = Set(all.filter { $0.subcode != nil }.map(\.opcode))

  private static func code(_ opcode: UInt8, _ subcode: UInt8?) -> Int { Int(opcode) << 8 | Int(subcode ?? 0) }

  /// Whether a sub-command follows this opcode.
  static func hasSubcodes(_ opcode: UInt8) -> Bool { divided.contains(opcode) }

  /// The operation with these bytes; nil if it isn't known.
  public static func known(_ opcode: UInt8, _ subcode: UInt8? = nil) -> EV3Operation? { byCode[code(opcode, subcode)] }

  /// The operation with these bytes, which must be in the table.
  static func of(_ opcode: UInt8, _ subcode: UInt8? = nil) -> EV3Operation {
    guard let operation = known(opcode, subcode) else { preconditionFailure("\(opcode) is not in the table") }
    return operation
  }
}
