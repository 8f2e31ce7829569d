internal import ArgumentParser

/// What `ffmount serve users` and `ffmount serve share` do with the accounts of a file of users.
package enum AccountAction: String, ExpressibleByArgument, CaseIterable {
  case add
  case remove
  case list
}
