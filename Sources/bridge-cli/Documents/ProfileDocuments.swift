// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols
import CommandOutput

struct ProfileDocument: Encodable {
  let name: String
  let description: String?
  let file: String?
  let driver: String?
  let protocols: [String]

  init(_ profile: Profile, _ origin: ProfileLibrary.Origin?) {
    name = profile.name
    description = profile.description
    file = origin?.file
    driver = profile.driver
    protocols = profile.protocolStrings
  }
}

struct ProfileProblemDocument: Encodable {
  let file, message: String
  let line, column: Int?

  init(_ problem: ProfileProblem) {
    file = problem.file
    message = problem.message
    line = problem.line
    column = problem.column
  }
}

struct ProfileListDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.profileList
  let profiles: [ProfileDocument]
  let problems: [ProfileProblemDocument]
}

struct ProfileShowDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.profile
  let profile: ProfileDocument
  let yaml: String
}

struct ProfileCheckDocument: Encodable {
  struct File: Encodable {
    let file: String
    let ok: Bool
    let profile: String?
    let problems: [ProfileProblemDocument]
    /// Old keys, each with its new spelling.
    let notes: [ProfileProblemDocument]

    init(_ result: CheckedFile) {
      file = result.file
      ok = result.problems.isEmpty
      profile = result.name
      problems = result.problems.map { ProfileProblemDocument($0) }
      notes = result.notes.map { ProfileProblemDocument($0) }
    }
  }

  let schema = DocumentSchema.name
  let document = DocumentKind.profileCheck
  let files: [File]
  /// Null where no recording was named.
  let recording: RecordingCheckDocument?
}

struct RecordingCheckDocument: Encodable {
  struct Find: Encodable {
    let direction, hex: String
    /// Seconds since the trace began.
    let elapsed_s: Double
    let offset: Int
    /// The number of bytes in the misfit, or of undescribed frames of this kind.
    let count: Int
  }

  let file: String
  let fits: Bool
  /// The number of frames for each message or request.
  let from_device, to_device: [String: Int]
  let misfit_bytes, undescribed_frames: Int
  let misfits, undescribed: [Find]

  init(_ check: RecordingCheck, file: String) {
    self.file = file
    fits = check.fits
    from_device = check.counts[.fromDevice] ?? [:]
    to_device = check.counts[.toDevice] ?? [:]
    misfit_bytes = check.unframedByteCount
    undescribed_frames = check.unknownFrameCount
    misfits = check.unframedRuns.map {
      Find(
        direction: $0.direction.rawValue, hex: Hexadecimal.string($0.bytes), elapsed_s: $0.time / .seconds(1),
        offset: $0.offset,
        count: $0.byteCount)
    }
    undescribed = check.unknownFrames.map {
      Find(
        direction: $0.direction.rawValue, hex: Hexadecimal.string($0.bytes), elapsed_s: $0.time / .seconds(1),
        offset: $0.offset,
        count: $0.count)
    }
  }
}

struct ProfileNewDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.profileProposal
  let yaml: String
  /// The bytes that were examined, how many of them lie in frames, and the number of frames; null without a recording.
  let bytes, framed_bytes, frames: Int?
}

struct UdevRulesDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.udevRules
  let rules: String
  /// The profiles that have rules.
  let profiles: [String]
  let problems: [ProfileProblemDocument]
}
