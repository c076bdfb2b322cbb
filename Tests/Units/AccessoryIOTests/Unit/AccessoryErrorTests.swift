// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage
import Testing

@Suite struct AccessoryErrorTests {
  @Test(arguments: [
    (EIO, AccessoryError.Kind.ioFailure), (ENXIO, .ioFailure), (ENODEV, .ioFailure), (EPIPE, .ioFailure),
    (EBUSY, .busy), (EAGAIN, .busy), (EACCES, .permissionDenied),
    (EPERM, .permissionDenied), (EADDRINUSE, .busy), (ENOENT, .notFound), (ENOTDIR, .notFound), (ELOOP, .notFound),
    (ETIMEDOUT, .timedOut),
    (ENOTTY, .unsupported), (EOPNOTSUPP, .unsupported), (EISDIR, .unsupported), (EINVAL, .misconfigured),
    (ENOMEM, .ioFailure), (EMFILE, .ioFailure), (ENOSPC, .ioFailure), (12_345, .ioFailure),
  ])
  func everyErrnoOfAFileHasItsKind(_ number: CInt, _ kind: AccessoryError.Kind) {
    #expect(AccessoryError.Kind(Errno(rawValue: number)) == kind)
    #expect(AccessoryError(errno: Errno(rawValue: number), "reading notes.txt").kind == kind)
  }

  @Test(arguments: [
    (EIO, AccessoryError.Kind.disconnected), (ENXIO, .disconnected), (ENODEV, .disconnected),
    (ESHUTDOWN, .disconnected), (EPIPE, .disconnected), (ECONNRESET, .disconnected), (ECONNABORTED, .disconnected),
    (ENOTCONN, .disconnected), (EHOSTUNREACH, .disconnected), (EHOSTDOWN, .disconnected), (ENETUNREACH, .disconnected),
    (ENETDOWN, .disconnected), (ENETRESET, .disconnected), (ETIMEDOUT, .timedOut), (EBUSY, .busy), (ENOMEM, .ioFailure),
    (EACCES, .permissionDenied), (ENOENT, .notFound), (EINVAL, .misconfigured),
  ])
  func everyErrnoOfADeviceHasItsKind(_ number: CInt, _ kind: AccessoryError.Kind) {
    #expect(AccessoryError.Kind(device: Errno(rawValue: number)) == kind)
    #expect(AccessoryError(device: Errno(rawValue: number), "opening /dev/ttyUSB0").kind == kind)
  }

  @Test func theMessageSaysWhatWasTriedAndWhatTheSystemSaid() {
    let error = AccessoryError(errno: Errno(rawValue: EMFILE), "opening /dev/ttyUSB0")
    #expect(error.code == .errno(EMFILE))
    #expect(error.description == "opening /dev/ttyUSB0: too many open files")
  }

  @Test func namesOfKindsAreStableForPrograms() {
    #expect(
      AccessoryError.Kind.allCases.map(\.rawValue) == [
        "disconnected", "busy", "permission_denied", "not_found", "timed_out", "cancelled", "refused", "bad_data",
        "unsupported", "misconfigured", "io_failure",
      ])
  }

  @Test func twoEndsOfALink() {
    #expect(AccessoryError.disconnected("X", code: .errno(EIO)).message == "X was disconnected")
    #expect(AccessoryError.disconnected("X", code: .errno(EIO)).code == .errno(EIO))
    #expect(AccessoryError.closed("X").kind == .cancelled)
  }
}
