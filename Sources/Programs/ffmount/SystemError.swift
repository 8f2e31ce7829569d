/// A system call that failed.
struct SystemError: Error {
  let code: Int32
}
