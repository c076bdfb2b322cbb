// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols

/// A value as JSON has it: bytes in hexadecimal.
struct CommandValueDocument: Encodable {
  let value: CommandValue

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch value {
    case .whole(let number): try container.encode(number)
    case .number(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    case .list(let values): try container.encode(values.map { CommandValueDocument(value: $0) })
    case .bytes(let bytes): try container.encode(Hexadecimal.string(bytes))
    case .flag(let isSet): try container.encode(isSet)
    case .nothing: try container.encodeNil()
    }
  }
}

struct CommandsDocument: Encodable {
  struct Reply: Encodable {
    struct Value: Encodable {
      let name: String
      let unit: OrNull<String>
      let value: CommandValueDocument
    }

    let command: String
    let values: [Value]

    init(_ reply: CommandReply) {
      command = reply.command.name
      values = zip(reply.command.results, reply.values).map {
        Value(name: $0.name, unit: OrNull($0.unit), value: CommandValueDocument(value: $1))
      }
    }
  }

  let schema = schemaName
  let device: DeviceDocument
  let replies: [Reply]
}

struct CommandListDocument: Encodable {
  struct Command: Encodable {
    struct Argument: Encodable {
      let name, form: String
      let unit: OrNull<String>
      let standard: OrNull<CommandValueDocument>
    }

    struct Result: Encodable {
      let name: String
      let unit: OrNull<String>
    }

    let name, summary: String
    let arguments: [Argument]
    let results: [Result]
  }

  let schema = schemaName
  let driver: String
  let commands: [Command]

  init(_ driver: String, _ commands: [CommandDescription]) {
    self.driver = driver
    self.commands = commands.map { command in
      Command(
        name: command.name, summary: command.summary,
        arguments: command.arguments.map {
          .init(
            name: $0.name, form: $0.kind.shortForm, unit: OrNull($0.unit),
            standard: OrNull($0.standard.map { CommandValueDocument(value: $0) }))
        }, results: command.results.map { .init(name: $0.name, unit: OrNull($0.unit)) })
    }
  }
}

struct FolderDocument: Encodable {
  struct Entry: Encodable {
    let kind, name: String
    let size_bytes: OrNull<Int>
    let md5: OrNull<String>

    init(_ entry: FileEntry) {
      name = entry.name
      kind = entry.kind.rawValue
      (size_bytes, md5) = (OrNull(entry.size), OrNull(entry.md5))
    }
  }

  let schema = schemaName
  let device: DeviceDocument
  let path: String
  let entries: [Entry]
}

struct TransferDocument: Encodable {
  let schema = schemaName
  let device: DeviceDocument
  let path, file: String
  let size_bytes: Int
  /// Of bricks.
  let md5: OrNull<String>
  /// Of AF1 accessories, which compare it: "firmware", "image" or "other", and the checksum CRC-32/ISO-HDLC.
  let kind, crc32: OrNull<String>
  /// Times that it was interrupted and went on where it had been.
  let resumptions: Int
}

/// How far a transfer is, one at each whole percent.
struct ProgressDocument: Encodable {
  struct Progress: Encodable {
    let done_bytes, size_bytes, percent: Int
    let bytes_per_second, seconds_left: OrNull<Double>
  }

  let schema = schemaName
  let progress: Progress

  init(done: Int, total: Int, percent: Int, rate: Double?, left: Duration?) {
    progress = Progress(
      done_bytes: done, size_bytes: total, percent: percent, bytes_per_second: OrNull(rate?.rounded()),
      seconds_left: OrNull(left.map { Double($0.inNanoseconds / 1_000_000) / 1_000 }))
  }
}
