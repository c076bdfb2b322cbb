// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols

/// Describes the messages of the EV3 in words.
enum EV3Words {
  private static let name = "EV3"
  /// The most instructions in a summary.
  private static let shownInstructions = 8

  /// Whether the type of a message is a known one.
  static func isKnown(_ type: EV3MessageType) -> Bool {
    type.isReply || [0x00, 0x80, 0x01, 0x81].contains(type.rawValue)
  }

  /// Describes a message that is longer than the brick's buffer.
  static func tooLong(_ length: Int) -> FrameWords {
    FrameWords(name, "message", title: "message", summary: "too long: \(length) bytes")
  }

  /// Describes a message. `asked` holds the direct commands that await a reply: a command is added to it, and a reply
  /// removes its command.
  static func words(of message: EV3Message, _ asked: inout [EV3Question]) -> FrameWords {
    switch message.type {
    case .directCommand, .directCommandNoReply: return direct(message, &asked)
    case .systemCommand, .systemCommandNoReply: return system(message)
    case .directReply, .directError:
      let place = asked.lastIndex { $0.number == message.number }
      return directReply(message, to: place.map { asked.remove(at: $0).instructions })
    case .systemReply, .systemError: return systemReply(message)
    default:
      let type = Hexadecimal.string([message.type.rawValue])
      return FrameWords(
        name, "message", title: "message type \(type) #\(message.number)", number: message.number,
        summary: FrameWords.preview(message.body), fields: [.init("type", message.type.rawValue)])
    }
  }

  private static func unreadable(_ error: EV3MessageError) -> String { "unreadable: \(error)" }

  // MARK: - Direct commands

  private static func direct(_ message: EV3Message, _ asked: inout [EV3Question]) -> FrameWords {
    var words = FrameWords(
      name, "request", title: "request direct #\(message.number)", command: "direct", number: message.number,
      fields: [.init("wants_reply", .flag(message.type.wantsReply))])
    do throws(EV3MessageError) {
      let command = try EV3DirectCommand(decoding: message.body)
      words.fields += [.init("globals_bytes", command.globalByteCount), .init("locals_bytes", command.localByteCount)]
      let instructions = try command.instructions()
      if message.type.wantsReply { asked.append(EV3Question(number: message.number, instructions: instructions)) }
      let texts = instructions.prefix(shownInstructions).map(text)
      let more = instructions.count - texts.count
      words.summary =
        (texts.isEmpty ? "(no instruction)" : texts.joined(separator: "; ")) + (more > 0 ? "; … \(more) more" : "")
        + (message.type.wantsReply ? "" : " (no reply)")
      words.fields.append(.init("instructions", .list(instructions.map { .text(text($0)) })))
    } catch {
      words.summary = unreadable(error)
    }
    return words
  }

  /// An instruction in LEGO's notation, in which GV and LV are offsets of global and local variables.
  private static func text(_ instruction: EV3Instruction) -> String {
    let parameters = instruction.parameters.map { parameter in
      switch parameter.value {
      case .constant(let number): "\(number)"
      case .text(let bytes): FrameWords.quoted(bytes)
      case .local(let offset): "LV\(offset)"
      case .global(let offset): "GV\(offset)"
      }
    }
    return ([instruction.operation.name] + parameters).joined(separator: " ")
  }

  private static func directReply(_ message: EV3Message, to instructions: [EV3Instruction]?) -> FrameWords {
    let isError = message.type == .directError
    let kind = isError ? "refusal" : "reply"
    var words = FrameWords(
      name, kind, title: "\(kind) direct #\(message.number)", command: "direct", number: message.number)
    words.isRefusal = isError
    if isError {
      words.summary = "the brick can't run it"
      return words
    }
    let results = (instructions ?? []).flatMap { EV3Result.results(of: $0, in: message.body) }
    if results.isEmpty {
      words.summary = message.body.isEmpty ? "done" : FrameWords.preview(message.body)
      return words
    }
    words.summary = results.prefix(4 * shownInstructions).map(\.text).joined(separator: ", ")
    words.fields = EV3Result.fields(of: results)
    return words
  }

  // MARK: - System commands

  private static let systemNames: [UInt8: String] = [
    0x92: "BEGIN_DOWNLOAD", 0x93: "CONTINUE_DOWNLOAD", 0x94: "BEGIN_UPLOAD", 0x95: "CONTINUE_UPLOAD",
    0x96: "BEGIN_GETFILE", 0x97: "CONTINUE_GETFILE", 0x98: "CLOSE_FILEHANDLE", 0x99: "LIST_FILES",
    0x9A: "CONTINUE_LIST_FILES", 0x9B: "CREATE_DIR", 0x9C: "DELETE_FILE", 0x9D: "LIST_OPEN_HANDLES",
    0x9E: "WRITEMAILBOX", 0x9F: "BLUETOOTHPIN", 0xA0: "ENTERFWUPDATE", 0xA1: "SETBUNDLEID", 0xA2: "SETBUNDLESEEDID",
  ]

  private static func head(_ kind: String, _ message: EV3Message) -> FrameWords {
    let code = message.body.first
    let command = code.map { systemNames[$0] ?? Hexadecimal.string([$0]) }
    return FrameWords(
      name, kind, title: "\(kind) \(command ?? "system") #\(message.number)", command: command?.lowercased(),
      commandByte: code, number: message.number)
  }

  private static func system(_ message: EV3Message) -> FrameWords {
    var words = head("request", message)
    do throws(EV3MessageError) {
      let (summary, fields) = arguments(of: try EV3SystemCommand(decoding: message.body))
      words.summary = summary + (message.type.wantsReply ? "" : " (no reply)")
      words.fields = [.init("wants_reply", .flag(message.type.wantsReply))] + fields
    } catch {
      words.summary = unreadable(error)
    }
    return words
  }

  private static func arguments(of command: EV3SystemCommand) -> (String, [FrameField]) {
    switch command {
    case .beginDownload(let size, let path):
      return ("\(FrameWords.quoted(path)), \(Amount.bytes(size))", [.init("path", path), .init("size_bytes", size)])
    case .continueDownload(let handle, let data):
      return (
        "handle \(handle), \(Amount.bytes(data.count))",
        [.init("handle", handle), .init("data_bytes", data.count)]
      )
    case .beginUpload(let maximum, let path), .beginGetFile(let maximum, let path), .listFiles(let maximum, let path):
      return (
        "\(FrameWords.quoted(path)), up to \(Amount.bytes(maximum))",
        [.init("path", path), .init("maximum_bytes", maximum)]
      )
    case .continueUpload(let handle, let maximum), .continueGetFile(let handle, let maximum),
      .continueListFiles(let handle, let maximum):
      return (
        "handle \(handle), up to \(Amount.bytes(maximum))", [.init("handle", handle), .init("maximum_bytes", maximum)]
      )
    case .closeHandle(let handle): return ("handle \(handle)", [.init("handle", handle)])
    case .makeFolder(let path), .delete(let path): return (FrameWords.quoted(path), [.init("path", path)])
    case .listOpenHandles, .enterFirmwareUpdate: return ("", [])
    case .writeMailbox(let mailbox, let payload):
      return (
        "\(FrameWords.quoted(mailbox)), \(Amount.bytes(payload.count))",
        [.init("mailbox", mailbox), .init("data_bytes", payload.count)]
      )
    case .setBundleID(let text), .setBundleSeedID(let text): return (FrameWords.quoted(text), [.init("text", text)])
    }
  }

  private static func systemReply(_ message: EV3Message) -> FrameWords {
    guard let reply = try? EV3SystemReply(decoding: message.body) else {
      var words = head("reply", message)
      words.summary = FrameWords.preview(message.body)
      return words
    }
    var words = head(reply.status.isSuccess ? "reply" : "refusal", message)
    words.isRefusal = !reply.status.isSuccess
    var parts = [reply.status.description]
    words.fields = [.init("status", reply.status.rawValue)]
    switch reply.code {
    case 0x94, 0x96, 0x97, 0x99:
      guard let beginning = try? reply.beginning() else { break }
      parts += [
        "\(Amount.bytes(beginning.size)) in all", "handle \(beginning.handle)", FrameWords.preview(beginning.data),
      ]
      words.fields += [
        .init("size_bytes", beginning.size), .init("handle", beginning.handle),
        .init("data_bytes", beginning.data.count),
      ]
    case 0x92, 0x93, 0x95, 0x98, 0x9A:
      guard let piece = try? reply.piece() else { break }
      parts += ["handle \(piece.handle)", FrameWords.preview(piece.data)]
      words.fields += [.init("handle", piece.handle), .init("data_bytes", piece.data.count)]
    case 0x9D:
      let handles = reply.openHandles
      parts.append(handles.isEmpty ? "none is open" : handles.prefix(32).map { "\($0)" }.joined(separator: " "))
      words.fields.append(.init("open_handles", .list(handles.map { .whole($0) })))
    default: parts.append(FrameWords.preview(reply.data))
    }
    words.summary = parts.filter { !$0.isEmpty }.joined(separator: ", ")
    return words
  }
}
