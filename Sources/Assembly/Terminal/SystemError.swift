internal import Glibc

/// A system call that failed.
package struct SystemError: Error, CustomStringConvertible {
  package let code: Int32

  package init(code: Int32) { self.code = code }

  package var description: String { describe(code) }
}

/// Returns the description of an errno by strerror(3).
package func describe(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }
